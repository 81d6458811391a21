#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds tests/fuzz/fuzz_*.c and runs each for SECONDS (60). Fails on the first finding.
# usage: tests/fuzz/run.sh [SECONDS] [NAME...]     NAME as in fuzz_NAME.c; none: all
# BUILD: where to build. CLANG: the compiler.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=${BUILD:-.build}/fuzz
clang=${CLANG:-clang}
mkdir -p "$build"

if [ $# -eq 0 ]; then
	for file in tests/fuzz/fuzz_*.c; do
		name=${file##*/fuzz_}
		set -- "$@" "${name%.c}"
	done
fi

for name; do
	echo "fuzz_$name: building"
	folders="base target"
	# A target that includes a higher layer needs its files, too.
	for folder in jvm model jfr import; do
		if grep -q "#include \"$folder/" "tests/fuzz/fuzz_$name.c"; then
			folders="$folders $folder"
		fi
	done
	# Those two read into a recording.
	case $folders in *jfr* | *import*) folders="base model jfr import" ;; esac
	sources=$(ls trie/trie_*.c)
	for folder in $folders; do
		sources="$sources $(ls userspace/$folder/*.c)"
	done
	# Those that write what they read.
	if grep -q '#include "fuzz/fuzz_export.h"' "tests/fuzz/fuzz_$name.c"; then
		make -s BUILD="${BUILD:-.build}" "${BUILD:-.build}/profile.pb-c.h"
		sources="$sources $(ls exporters/*.c) ${BUILD:-.build}/profile.pb-c.c"
	fi
	$clang -D_GNU_SOURCE -DJVMSCOPE_VERSION='"fuzz"' -I. -Iuserspace -Itests \
		-isystem "${BUILD:-.build}" -std=gnu17 -g -O1 \
		-fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined "tests/fuzz/fuzz_$name.c" $sources \
		-o "$build/fuzz_$name" -ldw -lelf -llzma -lz -lzstd -lyajl -lprotobuf-c -liberty -lm

	# What is found is kept in the build folder; the seeds are only read.
	mkdir -p "$build/corpus_$name"
	seeds=tests/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=
	echo "fuzz_$name: $seconds s"
	"$build/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
		-malloc_limit_mb=256 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="$build/$name-" "$build/corpus_$name" $seeds \
		>"$build/$name.log" 2>&1 || { tail -60 "$build/$name.log"; exit 1; }
	sed -n 's/^stat::number_of_executed_units: */  runs: /p; s/^stat::peak_rss_mb: */  peak RSS MB: /p' \
		"$build/$name.log"
done
