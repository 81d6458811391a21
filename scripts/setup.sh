#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup.sh - installs what a purpose needs on Debian 12 or Ubuntu 24.04, and nothing when all is there.
#
# usage: setup.sh [build] [check] [full] [jdk]
#
# The package groups are those of packages.txt; "jdk" is Debian's JDK 17 when no JDK is found.
# Set JVMSCOPE_NO_SETUP=1 to go on without looking.
set -eu
cd "$(dirname "$0")"

die() {
	echo "setup: $*" >&2
	exit 1
}

# The lines of the wanted groups, without comments.
wanted_lines() {
	awk -v groups=" $* " '
		/^\[/ { on = index(groups, " " substr($1, 2, length($1) - 2) " "); next }
		on { sub(/#.*/, ""); if (NF) print }
	' packages.txt
}

# Of lines "a | b c" on standard input: those where no alternative is installed as a whole.
missing_lines() {
	awk '
		NR == FNR { if ($1 == "ii") have[$2] = 1; next }
		{
			count = split($0, choice, "|"); found = 0
			for (i = 1; i <= count; i++) {
				names = split(choice[i], name, " "); all = 1
				for (k = 1; k <= names; k++) if (!have[name[k]]) all = 0
				found = found || all
			}
			if (!found) print
		}
	' "$1" -
}

# The first alternative of the line that apt can install as a whole.
choose() {
	echo "$1" | tr '|' '\n' | while read -r names; do
		# shellcheck disable=SC2086
		if apt-get install --simulate -qq $names >/dev/null 2>&1; then
			echo "$names"
			break
		fi
	done
}

have_jdk() {
	for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
		[ -n "$home" ] && [ -x "$home/bin/javac" ] && return 0
	done
	return 1
}

[ -z "${JVMSCOPE_NO_SETUP:-}" ] || exit 0
[ $# -gt 0 ] || set -- build check jdk
command -v dpkg-query >/dev/null || die "no dpkg here: install the packages of scripts/packages.txt by hand, then set JVMSCOPE_NO_SETUP=1"

installed=$(mktemp)
trap 'rm -f "$installed"' EXIT
dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' >"$installed"

missing=$(wanted_lines "$@" | missing_lines "$installed")
case " $* " in *" jdk "*) have_jdk || missing="$missing
openjdk-17-jdk-headless | default-jdk-headless" ;; esac
[ -n "$missing" ] || exit 0

flat=$(echo "$missing" | sed 's/|.*//' | tr -s ' \n' '  ')
[ "$(id -u)" = 0 ] || die "missing:$flat (run as root, or install them)"

echo "setup: installing $flat" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update || die "apt-get update failed: no network, or no package mirror"
names=$(echo "$missing" | while read -r line; do
	[ -z "$line" ] || choose "$line"
done | tr '\n' ' ')
# shellcheck disable=SC2086
apt-get -qq install -y --no-install-recommends $names >/dev/null </dev/null ||
	die "apt-get could not install $names"

dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' >"$installed"
missing=$(wanted_lines "$@" | missing_lines "$installed" | sed 's/|.*//' | tr -s '\n' ' ')
[ -z "$missing" ] || die "no package found for $missing"
