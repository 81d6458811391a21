#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.sh - Debian kernel packages for vmtest.sh.
#
# usage: kernels.sh DIR [VERSION...]      default versions: 6.1 6.12
#
# Downloads the newest plain amd64 image package of each version into DIR, by package name from
# the suites of the Debian mirror that apt is set up with; installs nothing and leaves apt's own
# state alone. Prints one line per version: VERSION, then the package's path.
set -eu

[ $# -ge 1 ] || { echo "usage: kernels.sh DIR [VERSION]..." >&2; exit 2; }
mkdir -p "$1"
dir=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 6.1 6.12

apt=$dir/.apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/\?$' | head -n 1)
[ -n "$mirror" ] || { echo "kernels: apt has no Debian mirror set up (run apt-get update first)" >&2; exit 1; }
for suite in bullseye bookworm bookworm-updates bookworm-backports trixie; do
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
done >"$apt/sources.list"
options="-o Dir::Etc::sourcelist=$apt/sources.list -o Dir::Etc::sourceparts=/dev/null
	-o Dir::State::Lists=$apt/lists -o Dir::Cache=$apt/cache -o APT::Sandbox::User=root"

updated=
for version; do
	deb=$(ls "$dir"/linux-image-"$version".*-amd64_*.deb 2>/dev/null | tail -n 1)
	if [ -z "$deb" ]; then
		# shellcheck disable=SC2086
		{
			[ -n "$updated" ] || apt-get $options -qq update
			updated=1
			name=$(apt-cache $options pkgnames "linux-image-$version." | grep -E -- '^linux-image-[0-9.]+(-[0-9]+|\+deb[0-9]+)-amd64$' | sort -V | tail -n 1)
			[ -n "$name" ] || { echo "kernels: no plain amd64 image of $version in the mirror" >&2; exit 1; }
			(cd "$dir" && apt-get $options -qq download "$name")
		}
		deb=$(ls "$dir"/linux-image-"$version".*-amd64_*.deb | tail -n 1)
	fi
	echo "$version $deb"
done
