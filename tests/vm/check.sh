#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh - the recorder on Debian's other kernels, in QEMU: results only, times mean nothing there.
#
# Builds everything twice, with clang 14 and clang 19. On 6.1, on 6.12 and on 6.12 with
# preempt=full: both objects load (verified instructions are printed), the kernel's walk equals the
# unit tests', and one JVM is recorded and judged. Last line: "vm: N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.." || exit
MAKE=${MAKE:-make}
BUILD=$(realpath -m "${BUILD:-.build}")
out=$BUILD/vm
passed=0 failed=0 skipped=0
mkdir -p "$out"

count() { # NAME PASSED FAILED SKIPPED
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
	echo "== $1: $2 passed, $3 failed, $4 skipped"
}

# Builds the recorder, the kernel tests and the Java programs here: no compiler runs in a VM.
build() { # CLANG
	"$MAKE" -s -j2 CLANG="$1" BUILD="$out/$1" all &&
		{ [ -x "$out/$1/tests/kernel/load" ] || BUILD="$out/$1" CLANG="$1" tests/kernel/run.sh >/dev/null; } &&
		BUILD="$out/$1" tests/live/run.py --compile
}

# Runs both objects' tests in one boot of a kernel.
boot() { # NAME KERNEL CLANGS [VMTEST OPTION]...
	name=$1 kernel=$2 clangs=$3
	shift 3
	# shellcheck disable=SC2086
	VMTEST_CACHE=$out/cache tests/vm/vmtest.sh -m 4096 -t 2400 "$@" "$kernel" -- \
		tests/vm/guest.sh "$out" $clangs >"$out/$name.log" 2>&1
	status=$?
	cat "$out/$name.log"
	line=$(sed -n 's/^guest: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped.*/\1 \2 \3/p' "$out/$name.log")
	# shellcheck disable=SC2086
	set -- ${line:-0 1 0}
	[ "$status" = 0 ] || [ "$2" != 0 ] || set -- "$1" 1 "$3"
	count "$name" "$1" "$2" "$3"
}

clangs=
for clang in clang-14 clang-19; do
	if ! command -v "$clang" >/dev/null; then
		count "$clang is not installed" 0 0 1
	elif build "$clang"; then
		clangs="$clangs $clang"
	else
		count "build with $clang" 0 1 0
	fi
done

if kernels=$(tests/vm/kernels.sh "$out/kernels" 6.1 6.12); then
	kernel_61=$(echo "$kernels" | sed -n 's/^6\.1 //p')
	kernel_612=$(echo "$kernels" | sed -n 's/^6\.12 //p')
	boot linux-6.1 "$kernel_61" "$clangs"
	boot linux-6.12 "$kernel_612" "$clangs"
	boot linux-6.12-preempt-full "$kernel_612" "$clangs" -a preempt=full
else
	count "the mirror has no kernels" 0 0 3
fi
echo "vm: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
