#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trie.sh [ROUNDS] - what the class-name trie costs: lookups beside other ways, a million rules, and,
# as root, a lookup in the kernel. Run it when nothing else runs.
#
# With the vectors (JVMSCOPE_TRIE_VECTORS, tests/unit/trie_data.h) their list; else the built-in one.
# Names are those of the vectors, else the classes of the JDK at JAVA_HOME.
# JVMSCOPE_TRIE_CLASS=CLASSPATH:NAME: a Java class that reads the binary form, such as the original,
# is measured too, compiled and interpreted.
#
# Goals on a quiet machine where the plain search takes 17.5, 36 and 41 ns: the words 15, 28, 32;
# with the index 10, 20, 28; in the kernel 60 by iterator, 90 by bpf_loop, without the empty frame.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-.build}
rounds=${1:-30}
vectors=${JVMSCOPE_TRIE_VECTORS:-../shared/data/trie}
: "${JAVA_HOME:=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

rules=trie/default.rules
[ ! -f "$vectors/rules/ignored_class_name.trie" ] || rules=$vectors/rules/ignored_class_name.trie
set --
for list in jdk17 sample_class_names; do
	names=$vectors/names/$list.ignored_class_name.tsv.gz
	[ -f "$names" ] || continue
	gzip -dc "$names" >"$scratch/$list"
	set -- "$@" "$scratch/$list"
done
if [ $# = 0 ]; then
	"$JAVA_HOME/bin/jimage" list "$JAVA_HOME/lib/modules" |
		sed -n 's/^ *\(.*\/.*\)\.class$/\1/p' | sort >"$scratch/jdk"
	set -- "$scratch/jdk"
fi
"$BUILD/trie_bench" -r "$rounds" "$rules" "$@"

# With the numbers that each name must have.
if [ -n "${JVMSCOPE_TRIE_CLASS:-}" ]; then
	"$BUILD/jvmscope" trie build -q "$rules" -o "$scratch/rules.bin"
	for list; do
		cut -f1 "$list" | "$BUILD/jvmscope" trie lookup "$scratch/rules.bin" >"$list.numbers"
	done
	"$JAVA_HOME/bin/javac" -d "$scratch" bench/java/TrieLookups.java
	for mode in "-Xmixed 300" "-Xint 5"; do
		printf '%-46s' "${JVMSCOPE_TRIE_CLASS##*.} in Java, ${mode% *}"
		"$JAVA_HOME/bin/java" "${mode% *}" -cp "$scratch:${JVMSCOPE_TRIE_CLASS%:*}" TrieLookups \
			"${JVMSCOPE_TRIE_CLASS##*:}" "$scratch/rules.bin" "${mode#* }" "$scratch"/*.numbers
	done
fi

"$BUILD/trie_bench" -m
kernel=$BUILD/tests/kernel
[ "$(id -u)" != 0 ] || [ -x "$kernel/trie" ] || tests/kernel/run.sh >/dev/null || :
if [ "$(id -u)" = 0 ] && [ -d "$vectors" ] && [ -x "$kernel/trie" ]; then
	"$kernel/trie" "$kernel/trie.part.o" "$((rounds * 3))"
fi
