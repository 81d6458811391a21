# SPDX-License-Identifier: Apache-2.0
"""The JVM's own counters, from its hsperfdata file."""
import struct


def read(path):
    """{name: integer} of all integer counters."""
    with open(path, "rb") as file:
        data = file.read()
    magic, = struct.unpack_from(">I", data)
    if magic != 0xCAFEC0C0:
        raise ValueError("%s: no hsperfdata" % path)
    order = "<" if data[4] else ">"
    at, count = struct.unpack_from(order + "ii", data, 24)
    found = {}
    for _ in range(count):
        size, name_at, length, kind = struct.unpack_from(order + "iiic", data, at)
        value_at, = struct.unpack_from(order + "i", data, at + 16)
        if length == 0 and kind == b"J":
            name = data[at + name_at:data.index(b"\0", at + name_at)].decode()
            found[name], = struct.unpack_from(order + "q", data, at + value_at)
        if size <= 0:
            break
        at += size
    return found
