#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh - sets up, builds, and records a small Java program for 10 seconds.
set -eu
cd "$(dirname "$0")/.."
MAKE=${MAKE:-make}
BUILD=${BUILD:-.build}

[ "$(id -u)" = 0 ] || {
	echo "demo: run as root: sudo make demo" >&2
	exit 1
}
scripts/setup.sh build jdk
"$MAKE" -s -j2 all

java=
for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
	if [ -n "$home" ] && [ -x "$home/bin/javac" ]; then
		java=$home/bin
		break
	fi
done

out=$BUILD/demo
mkdir -p "$out"
"$java/javac" -nowarn -d "$out" bench/java/Demo.java
"$java/java" -Xmx256m -cp "$out" Demo 20 &
pid=$!
trap 'kill "$pid" 2>/dev/null || :' EXIT
sleep 1

echo "demo: $BUILD/jvmscope -p $pid -d 10"
"$BUILD/jvmscope" -p "$pid" -d 10 -f "$out/demo.json" -f "$out/demo.collapsed"
echo "demo: the recording is in $out/demo.json and $out/demo.collapsed (one stack a line, for flame graphs)"
