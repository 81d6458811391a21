#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trie.sh - what the class-name trie costs: lookups beside other ways, a million rules, and, as
# root, a lookup in the kernel. Run it when nothing else runs.
#
# With the vectors (JVMSCOPE_TRIE_VECTORS, tests/unit/trie_data.h) their list and their names; else
# the built-in list and the classes of the JDK at JAVA_HOME.
# Goals on a quiet machine where the plain search takes 17.5, 36 and 41 ns: the words 15, 28, 32;
# with the index 10, 20, 28; in the kernel 60 by iterator, 90 by bpf_loop, without the empty frame.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-.build}
rounds=${1:-30}
vectors=${JVMSCOPE_TRIE_VECTORS:-../shared/data/trie}

if [ -d "$vectors" ]; then
	"$BUILD/trie_bench" -r "$rounds" "$vectors/rules/ignored_class_name.trie" \
		"$vectors/names/jdk17.ignored_class_name.tsv.gz" \
		"$vectors/names/sample_class_names.ignored_class_name.tsv.gz"
else
	names=$(mktemp)
	trap 'rm -f "$names"' EXIT
	: "${JAVA_HOME:=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}"
	"$JAVA_HOME/bin/jimage" list "$JAVA_HOME/lib/modules" |
		sed -n 's/^ *\(.*\/.*\)\.class$/\1/p' | sort >"$names"
	"$BUILD/trie_bench" -r "$rounds" trie/default.rules "$names"
fi
"$BUILD/trie_bench" -m
kernel=$BUILD/tests/kernel
[ "$(id -u)" != 0 ] || [ -x "$kernel/trie" ] || tests/kernel/run.sh >/dev/null || :
if [ "$(id -u)" = 0 ] && [ -d "$vectors" ] && [ -x "$kernel/trie" ]; then
	"$kernel/trie" "$kernel/trie.part.o" "$rounds"
fi
