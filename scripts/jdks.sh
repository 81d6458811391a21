#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# jdks.sh - other JDK versions to test against, beside the machine's own.
#
# usage: jdks.sh DIR [VERSION...]      default versions: 8 11 21 26 28 (17 and 25 too)
#
# Fills DIR with a small root file system (libc and friends) that holds Debian's headless
# JREs of the given versions, taken by package name from the suites of the Debian mirror that
# apt is set up with. Nothing is installed on the machine and its apt state stays as it is.
# Prints one line per version: VERSION, then the java program's path inside DIR.
#
# Run one:   jdks.sh run DIR VERSION [JAVA ARG]...
#            (chroot into DIR, /proc and /dev mounted; put class files below DIR first)
#
# So every such JVM also has a root of its own: its libjvm.so is not at that path on the host.
# Seen: 8u504 (stripped libjvm, no USDT notes), 11.0.33, 21.0.13, 26.0.2, 28-ea; 230 MB of packages.
set -eu

java_in() { # VERSION -> path of java inside the root
	case $1 in 8) echo /usr/lib/jvm/java-8-openjdk-amd64/jre/bin/java ;; *) echo "/usr/lib/jvm/java-$1-openjdk-amd64/bin/java" ;; esac
}

if [ "${1:-}" = run ]; then
	[ $# -ge 3 ] || { echo "usage: jdks.sh run DIR VERSION [ARG]..." >&2; exit 2; }
	root=$2 version=$3
	shift 3
	mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
	mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
	exec chroot "$root" "$(java_in "$version")" "$@"
fi

[ $# -ge 1 ] || { echo "usage: jdks.sh DIR [VERSION]..." >&2; exit 2; }
root=$1
shift
[ $# -gt 0 ] || set -- 8 11 21 26 28
suite=${JDKS_SUITE:-sid}

mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin" "$root/usr/sbin" "$root/tmp" "$root/proc" "$root/dev" "$root/etc"
for link in lib lib64 bin sbin; do [ -e "$root/$link" ] || ln -s "usr/$link" "$root/$link"; done

apt=$root/.apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/\?$' | head -n 1)
[ -n "$mirror" ] || { echo "jdks: apt has no Debian mirror set up (run apt-get update first)" >&2; exit 1; }
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
get() {
	apt-get -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root -qq "$@"
}
apt=$(realpath "$apt")

need=
[ -e "$root/lib64/ld-linux-x86-64.so.2" ] || need="libc6 libgcc-s1 libstdc++6 zlib1g libcrypt1"
for version; do [ -x "$root$(java_in "$version")" ] || need="$need openjdk-$version-jre-headless"; done
if [ -n "$need" ]; then
	get update
	# shellcheck disable=SC2086
	(cd "$apt/debs" && get download $need)
	for deb in "$apt"/debs/*.deb; do dpkg -x "$deb" "$root" && rm "$deb"; done
fi
for version; do echo "$version $(java_in "$version")"; done
