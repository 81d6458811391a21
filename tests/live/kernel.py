# SPDX-License-Identifier: Apache-2.0
"""What the kernel allows and holds, asked without the recorder's help."""
import ctypes
import errno
import os
import re
import struct
from pathlib import Path

BPF_PROG_LOAD = 5
BPF_PROG_GET_NEXT_ID = 11
BPF_PROG_GET_FD_BY_ID = 13
BPF_OBJ_GET_INFO_BY_FD = 15
BPF_PROG_TYPE_PERF_EVENT = 7
SYS_BPF = {"x86_64": 321, "aarch64": 280}
SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}

LIBC = ctypes.CDLL(None, use_errno=True)


def syscall(table, *arguments):
    """The result of a system call, or minus the errno."""
    number = table.get(os.uname().machine)
    if number is None:
        return -errno.ENOSYS
    result = LIBC.syscall(ctypes.c_long(number), *arguments)
    return result if result >= 0 else -ctypes.get_errno()


def bpf(command, attributes):
    """The result of a bpf() call, or minus the errno; and the attributes as it left them."""
    buffer = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    return syscall(SYS_BPF, ctypes.c_long(command), buffer, ctypes.c_long(128)), buffer.raw


def load_program():
    """Loads "return 0" as a perf_event program; 0 or minus the errno."""
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xB7, 0, 0, 0)
                                       + struct.pack("<BBhi", 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"GPL")
    fd, _ = bpf(BPF_PROG_LOAD, struct.pack("<IIQQIIQII", BPF_PROG_TYPE_PERF_EVENT, 2,
                                           ctypes.addressof(code), ctypes.addressof(licence),
                                           0, 0, 0, 0, 0))
    if fd < 0:
        return fd
    os.close(fd)
    return 0


def open_clock():
    """Opens cpu-clock on CPU 0, as the recorder does for all; 0 or minus the errno."""
    attributes = struct.pack("<IIQQ", 1, 128, 0, 10_000_000).ljust(40, b"\0")
    attributes += struct.pack("<Q", 1)
    buffer = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    fd = syscall(SYS_PERF_EVENT_OPEN, buffer, ctypes.c_long(-1), ctypes.c_long(0),
                 ctypes.c_long(-1), ctypes.c_long(8))
    if fd < 0:
        return fd
    os.close(fd)
    return 0


def why_not():
    """None when we may load BPF programs and open perf events, else the reason."""
    if os.geteuid() != 0:
        return "not root"
    for what, result in (("BPF", load_program()), ("perf events", open_clock())):
        if result < 0:
            return "%s not allowed here: %s" % (what, os.strerror(-result))
    return None


def program_ids():
    """Ids of all BPF programs that the kernel holds now."""
    found = set()
    last = 0
    while True:
        result, attributes = bpf(BPF_PROG_GET_NEXT_ID, struct.pack("<II", last, 0))
        if result < 0:
            return found
        last = struct.unpack_from("<II", attributes)[1]
        found.add(last)


def program_name(number):
    """The name in a program's struct bpf_prog_info; "" when it is gone."""
    fd, _ = bpf(BPF_PROG_GET_FD_BY_ID, struct.pack("<I", number))
    if fd < 0:
        return ""
    info = ctypes.create_string_buffer(80)
    result, _ = bpf(BPF_OBJ_GET_INFO_BY_FD,
                    struct.pack("<IIQ", fd, len(info), ctypes.addressof(info)))
    os.close(fd)
    return info.raw[64:80].split(b"\0")[0].decode() if result >= 0 else ""


def held_program_ids():
    """Ids of the programs that living processes have open."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/fdinfo/*"):
        try:
            found.update(int(number) for number in
                         re.findall(r"^prog_id:\s*(\d+)", path.read_text(), re.MULTILINE))
        except OSError:
            pass
    return found


def orphaned_program_ids():
    """
    Ids of the recorder's programs that no process has open: it has ended, and they have stayed.
    Those of a recorder that still runs are not among them, whoever started it.
    """
    ours = {number for number in program_ids() if program_name(number).startswith("jvs_")}
    return ours - held_program_ids() if ours else ours
