#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cross.sh - compiles everything for arm64; nothing is linked or run.
#
# The BPF objects are real ones, made by clang 14 and 19 with the arm64 register layout and linked
# into one object each. Userspace goes through aarch64-linux-gnu-gcc with all warnings, to object
# files: the headers of libbpf, libelf, libdw and libyajl are this machine's (they do not differ),
# libc's are arm64's. Linking would need arm64 libraries, which a plain Debian does not have.
# Last line: "cross: N passed, N failed, N skipped", one for each compiler.
set -u
cd "$(dirname "$0")/.." || exit
MAKE=${MAKE:-make}
BUILD=${BUILD:-.build}
passed=0 failed=0 skipped=0

result() { # STATUS NAME
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok      $2"
	else
		failed=$((failed + 1))
		echo "FAILED  $2"
	fi
}

skip() { # NAME REASON
	skipped=$((skipped + 1))
	echo "skipped $1: $2"
}

# The system's headers without its libc: a folder of links to what the libraries ship.
headers=$BUILD/cross/include
mkdir -p "$headers"
for name in bpf libelf.h gelf.h nlist.h dwarf.h elfutils libdw yajl libiberty lzma lzma.h zlib.h zconf.h zstd.h zstd_errors.h protobuf-c; do
	for from in "/usr/include/$name" "/usr/include/$(uname -m)-linux-gnu/$name"; do
		[ ! -e "$from" ] || ln -sfn "$from" "$headers/$name"
	done
done

for clang in clang-14 clang-19; do
	if ! command -v "$clang" >/dev/null; then
		skip "BPF for arm64, $clang" "$clang is not installed"
		continue
	fi
	"$MAKE" -s -j2 MACHINE=aarch64 CLANG="$clang" BUILD="$BUILD/cross/$clang" \
		"$BUILD/cross/$clang/jvmscope.bpf.o" >"$BUILD/cross/$clang.log" 2>&1
	status=$?
	[ "$status" = 0 ] || tail -n 15 "$BUILD/cross/$clang.log"
	result "$status" "BPF for arm64, $clang"
done

if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
	skip "userspace for arm64" "aarch64-linux-gnu-gcc is not installed"
else
	CPPFLAGS="-idirafter $headers" "$MAKE" -s -j2 -k MACHINE=aarch64 CC=aarch64-linux-gnu-gcc \
		CLANG=clang BUILD="$BUILD/cross/gcc" cross-objects \
		>"$BUILD/cross/gcc.log" 2>&1
	status=$?
	[ "$status" = 0 ] || grep -E 'error|Error' "$BUILD/cross/gcc.log" | head -n 15
	result "$status" "userspace for arm64, aarch64-linux-gnu-gcc"
fi
echo "cross: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
