#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guest.sh FOLDER CLANG... - what check.sh runs inside a VM, for each build FOLDER/CLANG.
# Last line: "guest: N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.." || exit
folder=$1
shift
passed=0 failed=0 skipped=0
echo "guest: $(uname -r), preemption $(sed 's/.*(\(.*\)).*/\1/' /sys/kernel/debug/sched/preempt 2>/dev/null)"

# Adds up "N passed, N failed, N skipped" of a log, or one failure.
add() { # LOG
	cat "$1"
	line=$(sed -n 's/^\([a-z]*: \)\{0,1\}\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\2 \3 \4/p' "$1" | tail -n 1)
	# shellcheck disable=SC2086
	set -- ${line:-0 1 0}
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

for clang; do
	build=$folder/$clang
	echo "-- $clang"
	if "$build/tests/kernel/load" "$build/jvmscope.bpf.o"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	"$build/tests/kernel/walk" "$build/tests/kernel/walk.bpf.o" >/tmp/log 2>&1
	add /tmp/log
	"$build/tests/kernel/calls" "$build/jvmscope.bpf.o" >/tmp/log 2>&1
	add /tmp/log
	"$build/tests/kernel/trie" "$build/tests/kernel/trie.part.o" >/tmp/log 2>&1
	add /tmp/log
	JVMSCOPE_PATIENCE=4 BUILD=$build tests/live/run.py --vm >/tmp/log 2>&1
	add /tmp/log
done
echo "guest: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
