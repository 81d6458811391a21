#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make.sh JAVA_HOME NAME [JVM OPTION]... - records Workload into data/NAME.jfr.gz and writes what the
# JDK's own reader says of it to data/NAME.expect.json. Run by hand; the results are committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=$1 name=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$scratch"
"$home/bin/javac" -nowarn -encoding UTF-8 -d classes "$here/Workload.java" "$here/Expect.java"
# Nothing of this machine's environment goes into a file that others get.
env -i LC_ALL=C.UTF-8 "$home/bin/java" "$@" -Xmx64m -cp classes Workload "$name.jfr"
env -i LC_ALL=C.UTF-8 "$home/bin/java" -Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp classes \
	Expect "$name.jfr" "JDK $("$home/bin/java" -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p') $*" \
	>"$here/data/$name.expect.json"
gzip -9n <"$name.jfr" >"$here/data/$name.jfr.gz"
ls -l "$here/data/$name.jfr.gz"
