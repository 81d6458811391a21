#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh quick|full - sets up, builds, and runs the tests one kind after the other.
#
# Every step shows its output and is counted: by its own last line "N passed, N failed, N skipped",
# by CUnit's summary, or as one test by its exit status. What failed is said again before the last
# line, which is the sum; the exit status is 0 only when nothing failed.
set -u
cd "$(dirname "$0")/.." || exit
MAKE=${MAKE:-make}
BUILD=${BUILD:-.build}
mode=${1:-quick}

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log" "$log.status" "$log.failures"' EXIT

# "passed failed skipped" of a step's output, from its count line or CUnit's; nothing if neither.
counts() {
	awk '
		/^([a-z]+: )?[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
			sub(/^[a-z]+: /, ""); line = $1 " " $3 " " $5
		}
		/^ *tests +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+/ { line = $4 " " $5 " 0" }
		END { print line }
	' "$1"
}

# The lines of a failed step that say why, of each kind of test.
failures() { # NAME
	echo "failed in $1:"
	grep -A 4 -E 'FAILED|error:|^ +[0-9]+\. ' "$log" | head -n 60
}

step() { # NAME COMMAND [ARG]...
	name=$1
	shift
	started=$(date +%s)
	echo "== $name"
	{
		"$@" </dev/null 2>&1
		echo $? >"$log.status"
	} | tee "$log"
	status=$(cat "$log.status")
	count=$(counts "$log")
	# shellcheck disable=SC2086
	set -- ${count:-0 0 0}
	if [ "$status" != 0 ] && [ "$2" = 0 ]; then
		set -- "$1" 1 "$3"
	elif [ -z "$count" ]; then
		set -- 1 0 0
	fi
	[ "$2" = 0 ] || failures "$name" >>"$log.failures"
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
	echo "== $name: $1 passed, $2 failed, $3 skipped ($(($(date +%s) - started)) s)"
	return "$status"
}

finish() {
	[ ! -e "$log.failures" ] || cat "$log.failures"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

groups="build check jdk"
[ "$mode" = quick ] || groups="$groups full"
# shellcheck disable=SC2086
scripts/setup.sh $groups || finish_setup=1
if [ -n "${finish_setup:-}" ]; then
	failed=1
	finish
fi

step build "$MAKE" -s -j2 all "$BUILD/stacks" "$BUILD/names" "$BUILD/jfr_make" \
	"$BUILD/jfr_totals" "$BUILD/asan/jfr_totals" || finish
step lint "$MAKE" -s lint LINT="$mode"
step unit "$MAKE" -s -j2 unit
step kernel tests/kernel/run.sh
if [ "$mode" = quick ]; then
	step jfr tests/jfr/run.py
else
	step jfr tests/jfr/run.py --full
fi
if [ "$mode" = quick ]; then
	step live tests/live/run.py --quick
else
	step cross "$MAKE" -s check-cross
	step live tests/live/run.py --full
	step fuzz tests/fuzz/run.sh 300 trie_words trie_rules
fi
finish
