#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the seed corpora of the fuzz targets of userspace/target from files of this machine and
# a tiny library. Run by hand when a new kind of input is wanted; the result is committed.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p corpus/maps corpus/image corpus/ehframe corpus/demangle

# maps: one of a process, and the odd lines.
grep -v locale /proc/self/maps | head -20 >corpus/maps/process
cat >corpus/maps/odd <<'END'
7f0000000000-7f0000001000 r-xp 00001000 fd:02 1234567                    /usr/lib/libjvm.so (deleted)
7f0000000800-7f0000002000 rw-p 00000000 00:00 0
7f0000002000-7f0000003000 ---s 00000000 00:01 99 /a\012b c
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
END
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
printf '%s' "/kubepods.slice/kubepods-pod0a1b2c3d_1111_4222_8333_444455556666.slice/cri-containerd-$id.scope" \
	>corpus/maps/cgroup

# image: a library with everything an image is asked for, whole, stripped, with .gnu_debugdata.
cat >"$scratch/tiny.c" <<'END'
int gHotSpotVMStructs = 1;
static int hidden(int a) { return a * 3 + gHotSpotVMStructs; }
__attribute__((noinline)) int visible(int a, char *to)
{
	char on_stack[64];
	for (int i = 0; i < 64; i++)
		on_stack[i] = to[i + a];
	return hidden(on_stack[a & 63]);
}
END
gcc -Os -fPIC -shared -nostdlib -Wl,--build-id -Wl,-z,noseparate-code -Wl,--hash-style=gnu \
	-o "$scratch/tiny.so" "$scratch/tiny.c"
cp "$scratch/tiny.so" corpus/image/whole
strip -o corpus/image/stripped "$scratch/tiny.so"
objcopy --only-keep-debug "$scratch/tiny.so" "$scratch/debug"
xz -k "$scratch/debug"
cp corpus/image/stripped "$scratch/with"
objcopy --add-section .gnu_debugdata="$scratch/debug.xz" \
	--add-gnu-debuglink="$scratch/debug" "$scratch/with" corpus/image/debugdata

# ehframe: the first records of libraries whose compilers differ, and of this library.
for from in "$scratch/tiny.so" /lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/libgcc_s.so.1 \
	/lib/x86_64-linux-gnu/libc.so.6; do
	[ -e "$from" ] || continue
	objcopy -O binary --only-section .eh_frame "$from" "$scratch/frames"
	head -c 3000 "$scratch/frames" >"corpus/ehframe/$(basename "$from")"
done

chmod 644 corpus/*/*

# demangle: C++, Rust old, new and odd, and one whose pairs hold each other.
i=0
for name in _ZN2os6mallocEm8MEMFLAGSRK15NativeCallStack.part.0 \
	_ZNSt6vectorIiSaIiEE9push_backEOi@@GLIBCXX_3.4 \
	_ZN4core3fmt9Formatter3pad17h0123456789abcdefE \
	_RNvCs1234_7mycrate3foo _RNvC0jy7cate3foo \
	_RNvXs5_NtNtCs1234_4core3fmt3numhNtB7_5Debug3fmt \
	_ZZN3FooC1EvENKUlvE_clEv _ZTV7Klass _ZNK5FrameIJidcEE3getILi1EEERKvv \
	_Z1fISt4pairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_EEvv; do
	i=$((i + 1))
	printf '%s' "$name" >corpus/demangle/$i
done
