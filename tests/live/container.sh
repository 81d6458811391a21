#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# container.sh ROOT JAVA_HOME CLASSES LIBJVM ARG... - a JVM as in a container, without an engine.
#
# New pid, mount and uts namespaces; ROOT becomes / by pivot_root, as engines do. The JDK is at
# /jdk there, the classes at /app: paths the host does not have. LIBJVM, unless "-", is put over
# the JDK's own libjvm.so, so that its inode is another one too. java is pid 1 inside, or with
# JVM_PID=N in the environment pid N, without standard input.
set -eu

if [ "${1:-}" != inside ]; then
	exec unshare --pid --mount --uts --fork --kill-child=KILL "$0" inside "$@"
fi
shift
root=$1 jdk=$2 classes=$3 libjvm=$4
shift 4

mount --make-rprivate /
mount -t tmpfs root "$root"
for folder in proc tmp dev jdk app etc old usr lib lib64; do mkdir -p "$root/$folder"; done
for folder in usr lib lib64 etc dev; do
	[ ! -e "/$folder" ] || mount --rbind "/$folder" "$root/$folder"
done
mount --bind "$jdk" "$root/jdk"
[ "$libjvm" = - ] || mount --bind "$libjvm" "$root/jdk/lib/server/libjvm.so"
mount --rbind "$classes" "$root/app"
mount -t proc proc "$root/proc"
hostname in-a-container
cd "$root"
pivot_root . old
umount -l /old
if [ -n "${JVM_PID:-}" ]; then
	echo $((JVM_PID - 1)) >/proc/sys/kernel/ns_last_pid
	/jdk/bin/java "$@" &
	wait
	exit
fi
exec /jdk/bin/java "$@"
