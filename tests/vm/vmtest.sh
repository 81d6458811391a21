#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vmtest.sh - run one command as root under another Linux kernel, in QEMU.
#
# usage: vmtest.sh [-c CPUS] [-m MIB] [-t SECONDS] [-w DIR]... [-a CMDLINE] [-v] KERNEL -- COMMAND [ARG]...
#
#   KERNEL   a Debian linux-image-*-amd64 package: the .deb, or the folder it
#            was unpacked to (dpkg -x). Not the "cloud" flavour: it has no 9p.
#            Fetch one without installing it:  apt-get download linux-image-...
#   COMMAND  runs in a throw-away copy-on-write view of this machine's root
#            file system, so everything installed here is there under the same
#            path. Writes are lost, except below the folders given with -w.
#   -c -m -t virtual CPUs (2), memory in MiB (2048), time limit in seconds (300)
#   -w DIR   share DIR read-write under its own path (repeatable)
#   -a WORDS more kernel command line, e.g. -a "lockdown=integrity"
#   -v       kernel console on stderr
#
# The command's stdout and stderr (one stream) come out on stdout; the exit
# status is the command's own, or
#   124 time limit   125 the guest never reported   126 usage or set-up error.
#
# Needs: qemu-system-x86, busybox-static, cpio, kmod, xz-utils.
# Overridable: QEMU, BUSYBOX, ACCEL (tcg; "kvm" only where it truly works),
#              VMTEST_CACHE (unpacked kernels and initramfs, kept between runs).
set -eu

QEMU=${QEMU:-qemu-system-x86_64}
BUSYBOX=${BUSYBOX:-/bin/busybox}
ACCEL=${ACCEL:-tcg}
CACHE=${VMTEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vmtest}
cpus=2 mem=2048 limit=300 extra='' verbose='' shares=''

die() { echo "vmtest: $*" >&2; exit 126; }

while getopts c:m:t:w:a:v opt; do
	case $opt in
	c) cpus=$OPTARG ;;
	m) mem=$OPTARG ;;
	t) limit=$OPTARG ;;
	w) shares="$shares $(realpath "$OPTARG")" ;;
	a) extra=$OPTARG ;;
	v) verbose=1 ;;
	*) exit 126 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 3 ] && [ "$2" = -- ] || die "usage: vmtest.sh [options] KERNEL -- COMMAND [ARG]..."
kernel=$1
shift 2

for tool in "$QEMU" "$BUSYBOX" cpio depmod xz; do
	command -v "$tool" >/dev/null || die "$tool is missing"
done

# 1. The kernel and its modules.
if [ -d "$kernel" ]; then
	tree=$(realpath "$kernel")
else
	[ -f "$kernel" ] || die "$kernel: no such kernel package"
	tree=$CACHE/$(basename "$kernel" .deb)
	if [ ! -d "$tree" ]; then
		mkdir -p "$CACHE"
		tmp=$(mktemp -d "$CACHE/unpack.XXXXXX")
		dpkg -x "$kernel" "$tmp" || die "cannot unpack $kernel"
		mv -T "$tmp" "$tree" 2>/dev/null || rm -rf "$tmp"
	fi
fi
modroot=$tree
[ -d "$tree/lib/modules" ] || modroot=$tree/usr
version=$(ls "$modroot/lib/modules" | head -n 1)
image=$tree/boot/vmlinuz-$version
[ -f "$image" ] || die "no boot/vmlinuz-$version in $tree"
[ -f "$modroot/lib/modules/$version/modules.dep" ] || depmod -b "$modroot" "$version"

work=$(mktemp -d "${TMPDIR:-/tmp}/vmtest.XXXXXX")
qpid=
cleanup() { [ -z "$qpid" ] || kill "$qpid" 2>/dev/null || :; rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# 2. An initramfs: busybox, the few modules for 9p and overlayfs, and init.
initrd=$CACHE/initrd-$version.gz
if [ ! -f "$initrd" ] || [ -n "$(find "$0" -newer "$initrd")" ]; then
	mkdir -p "$CACHE" "$work/i/bin" "$work/i/mod"
	cp "$BUSYBOX" "$work/i/bin/busybox"
	n=10
	for m in virtio_pci 9pnet_virtio 9p overlay; do
		modprobe -d "$modroot" -S "$version" --show-depends "$m" 2>/dev/null |
		    sed -n 's/^insmod \([^ ]*\).*/\1/p' || :
	done | awk '!seen[$0]++' >"$work/mods"
	grep -q '/9p\.ko' "$work/mods" || die "$version has no 9p module"
	while read -r ko; do
		out=$work/i/mod/$n-$(basename "${ko%.xz}")
		case $ko in
		*.xz) xz -dc "$ko" >"$out" ;;
		*) cp "$ko" "$out" ;;
		esac
		n=$((n + 1))
	done <"$work/mods"
	cat >"$work/i/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /lower /rw /new
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for tty in 1 2; do stty -F /dev/ttyS$tty raw -echo; done
status() { echo "status $1" >/dev/ttyS2; sync; reboot -f; }
for m in /mod/*; do insmod "$m"; done
o=trans=virtio,version=9p2000.L,msize=512000,cache=loose
mount -t 9p -o ro,$o root /lower || status 126
mount -t tmpfs -o size=80% rw /rw
mkdir /rw/up /rw/work
mount -t overlay -o lowerdir=/lower,upperdir=/rw/up,workdir=/rw/work root /new || status 126
cd /new
mount -t proc proc proc
mount -t sysfs sys sys
mount -t devtmpfs dev dev
mkdir -p dev/pts dev/shm
mount -t devpts pts dev/pts
mount -t tmpfs shm dev/shm
mount -t tmpfs run run
mount -t bpf bpf sys/fs/bpf
mount -t tracefs trace sys/kernel/tracing
mount -t debugfs debug sys/kernel/debug 2>/dev/null
mount -t cgroup2 cg sys/fs/cgroup
mkdir -p lib/modules; mount -t 9p -o ro,$o modules lib/modules
rm -rf tmp/hsperfdata_* tmp/.java_pid*
ifconfig lo 127.0.0.1 up
i=0
mount -t 9p -o ro,$o job mnt
for d in $(cat mnt/shares); do
	mkdir -p ".$d"
	mount -t 9p -o rw,trans=virtio,version=9p2000.L,msize=512000 share$i ".$d" || status 126
	i=$((i + 1))
done
echo "vmtest: guest ready at $(cut -d' ' -f1 /proc/uptime) s" >/dev/console
chroot /new /bin/sh /mnt/run </dev/null >/dev/ttyS1 2>&1
status $?
INIT
	chmod +x "$work/i/init"
	(cd "$work/i" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
	mv "$work/initrd" "$initrd"
fi

# 3. The job: the command with its words kept apart, and the shares.
mkdir "$work/job"
{
	echo 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb'
	printf "cd '%s' 2>/dev/null || cd /\n" "$(pwd | sed "s/'/'\\\\''/g")"
	for word in "$@"; do
		printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
	done
	echo
} >"$work/job/run"
echo "$shares" >"$work/job/shares"

virtfs() { printf -- '-virtfs local,path=%s,mount_tag=%s,security_model=passthrough,multidevs=remap%s ' "$1" "$2" "$3"; }
drives="$(virtfs / root ,readonly=on)$(virtfs "$modroot/lib/modules" modules ,readonly=on)$(virtfs "$work/job" job ,readonly=on)"
i=0
for d in $shares; do
	drives="$drives$(virtfs "$d" "share$i" '')"
	i=$((i + 1))
done

# 4. Boot. Three serial lines: kernel console, command output, exit status. A host that is busy
#    gives the emulated timer too few interrupts for the kernel's check of it, which panics.
case $ACCEL in kvm) cpu=host ;; *) cpu=max,la57=off ;; esac
# shellcheck disable=SC2086
timeout "$limit" "$QEMU" -accel "$ACCEL" -cpu "$cpu" -M q35 -smp "$cpus" -m "$mem" \
    -display none -nodefaults -no-reboot -no-user-config -nic none $drives \
    -device virtio-rng-pci \
    -chardev file,id=con,path="$work/console" -serial chardev:con \
    -chardev stdio,id=out,signal=off -serial chardev:out \
    -chardev file,id=st,path="$work/status" -serial chardev:st \
    -kernel "$image" -initrd "$initrd" \
    -append "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check $extra" </dev/null &
qpid=$!
rc=0
wait "$qpid" || rc=$?
qpid=
[ -z "$verbose" ] || tr -d '\r' <"$work/console" >&2
status=$(sed -n 's/^status \([0-9]*\).*/\1/p' "$work/status" 2>/dev/null | tail -n 1)
if [ -n "$status" ]; then
	exit "$status"
elif [ "$rc" -eq 124 ]; then
	echo "vmtest: time limit of $limit s" >&2
	exit 124
fi
echo "vmtest: the guest ended without a status (qemu: $rc); its console:" >&2
tr -d '\r' <"$work/console" | tail -n 25 >&2
exit 125
