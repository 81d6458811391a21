#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every lint; the last line is the count. usage: run.sh [LINT]...
#
#   layers   a file includes only what its layer may see (layers.txt)
#   length   files under 600 lines, functions under 60
#   format   clang-format 14 would change nothing
#   tidy     clang-tidy, one file at a time, remembered under the build folder; without its
#            analyzer when LINT=quick
#   licence  the SPDX line, and the right licence for what the kernel loads
#   shell    shellcheck
#   python   every Python file compiles
#   paths    no path of somebody's machine
set -u
cd "$(dirname "$0")/../.." || exit

sources() { find bpf userspace trie exporters tests vmlinux -name '*.[ch]' 2>/dev/null | sort; }
scripts() { grep -rlE '^#!/bin/(ba)?sh' scripts tests bench .ci 2>/dev/null | sort; }
pythons() { find scripts tests bench -name '*.py' | sort; }

lint_layers() { tests/lint/layers.sh; }
lint_length() { tests/lint/length.sh; }

# Other versions format otherwise, and have other checks: 77 means skipped.
lint_format() {
	command -v clang-format-14 >/dev/null || return 77
	sources | xargs clang-format-14 --dry-run -Werror
}

lint_tidy() {
	command -v clang-tidy-14 >/dev/null || return 77
	${MAKE:-make} -s -k -j2 tidy
}

# A file that BPF compiles, or may include, carries the licence the kernel asks for.
lint_licence() {
	{
		sources
		scripts
		pythons
		find tests bench -name '*.java'
		find vmlinux -name '*.h'
		echo Makefile scripts/*.mk
	} | tr ' ' '\n' | sort -u | while read -r file; do
		case $file in
		bpf/* | vmlinux/* | trie/trie.h) want='GPL-2.0-only OR BSD-2-Clause' ;;
		tests/kernel/*.bpf.c | tests/kernel/request.h) want='GPL-2.0-only OR BSD-2-Clause' ;;
		*) want='Apache-2.0' ;;
		esac
		head -n 2 "$file" | grep -q "SPDX-License-Identifier: $want\( \*/\)\?$" ||
			echo "$file: no line 'SPDX-License-Identifier: $want'"
	done | awk '{ print } END { exit NR > 0 }'
}

lint_shell() { scripts | xargs shellcheck -S warning; }

lint_python() {
	pythons | xargs python3 -c '
import sys
for path in sys.argv[1:]:
    compile(open(path, encoding="utf-8").read(), path, "exec")
'
}

lint_paths() {
	! grep -rnIE '(^|[^a-zA-Z0-9_.])/(work|home/[a-z]+|root)/' --exclude-dir=.git --exclude-dir=.build \
		--exclude-dir=__pycache__ --exclude=run.sh .
}

passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- layers length format tidy licence shell python paths
for name; do
	output=$("lint_$name" 2>&1)
	case $? in
	0) passed=$((passed + 1)) ;;
	77)
		skipped=$((skipped + 1))
		echo "lint $name: skipped, no clang-$name-14 here"
		;;
	*)
		failed=$((failed + 1))
		printf '%s\nlint %s: FAILED\n' "$output" "$name"
		;;
	esac
done
echo "lint: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
