#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_jdks.sh - the live tests of every version on all JDKs that can be had here.
#
# Takes 8, 11, 21, 26 and the newest early access from the mirror (those it has; the rest is named)
# into a root below the build folder, adds the machine's own, and prints the support table.
# JDKS_ROOT names a root that scripts/jdks.sh filled before.
set -u
cd "$(dirname "$0")/../.." || exit
BUILD=$(realpath -m "${BUILD:-.build}")
export BUILD
root=${JDKS_ROOT:-$BUILD/jdks}

[ "$(id -u)" = 0 ] || {
	echo "jdks: skipped, not root"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}
mkdir -p "$root"
root=$(realpath "$root")
# shellcheck disable=SC2329
unmount() {
	for folder in proc dev jvmscope; do
		mountpoint -q "$root/$folder" && umount -l "$root/$folder"
	done
}
trap unmount EXIT

for version in 8 11 21 26 28; do
	scripts/jdks.sh "$root" "$version" >/dev/null 2>&1 || echo "jdks: the mirror has no JDK $version"
done
tests/live/run.py --jdks "$root" "$@"
