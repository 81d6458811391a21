#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh - the BPF object on the running kernel: it loads, walks as the unit tests' C code does, and
# takes probed calls within one another for what they are.
#
# Uses BUILD, CLANG, BPFTOOL as the Makefile does. Last line: "N passed, N failed, N skipped".
# As another user than root, or where BPF is not allowed, everything is skipped.
set -u
cd "$(dirname "$0")/../.." || exit
BUILD=${BUILD:-.build}
CLANG=${CLANG:-clang}
CC=${CC:-cc}
BPFTOOL=${BPFTOOL:-$(command -v bpftool || echo /usr/sbin/bpftool)}
out=$BUILD/tests/kernel
arch=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
passed=0 failed=0 skipped=0

mkdir -p "$out"
${MAKE:-make} -s BUILD="$BUILD" CLANG="$CLANG" "$BUILD/jvmscope.bpf.o" || exit

cflags="-std=gnu17 -g -O1 -Wall -Wextra -D_GNU_SOURCE -I. -Itests"
# shellcheck disable=SC2086
$CC $cflags tests/kernel/load.c -o "$out/load" -lbpf || exit
# shellcheck disable=SC2086
$CC $cflags tests/kernel/calls.c -o "$out/calls" -lbpf || exit
# shellcheck disable=SC2086
$CC $cflags tests/kernel/walk.c -o "$out/walk" -lbpf -lcunit || exit
# shellcheck disable=SC2086
$CC $cflags tests/kernel/trie.c trie/trie_*.c -o "$out/trie" -lbpf -lz || exit
for part in walk trie; do
	$CLANG -target bpf -mcpu=v3 -std=gnu17 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter \
		-D__TARGET_ARCH_"$arch" -I. -Ibpf -Ivmlinux/"$arch" -Ivmlinux \
		-c "tests/kernel/$part.bpf.c" -o "$out/$part.part.o" || exit
done
"$BPFTOOL" gen object "$out/walk.bpf.o" "$BUILD/bpf/core.bpf.o" "$BUILD/bpf/unwind.bpf.o" \
	"$out/walk.part.o" || exit

if [ "$(id -u)" != 0 ]; then
	echo "kernel: not root, BPF is not allowed"
	echo "0 passed, 0 failed, 4 skipped"
	exit 0
fi

if "$out/load" "$BUILD/jvmscope.bpf.o"; then
	passed=1
else
	failed=1
fi

# Adds the counts of a test's last line.
run() { # LOG COMMAND [ARG]...
	log=$1
	shift
	"$@" >"$log" 2>&1
	cat "$log"
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log")
	# shellcheck disable=SC2086
	set -- ${counts:-0 1 0}
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

run "$out/walk.log" "$out/walk" "$out/walk.bpf.o"
run "$out/calls.log" "$out/calls" "$BUILD/jvmscope.bpf.o"
run "$out/trie.log" "$out/trie" "$out/trie.part.o"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
