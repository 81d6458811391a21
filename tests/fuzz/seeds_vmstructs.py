#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seed corpus of fuzz_vmstructs: small JVMs of three generations. Run by hand.

Places in memory are words with 0x55 in the upper byte, see fuzz_vmstructs.c.
"""
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
JDKS = [8, 11, 17, 21, 25, 26, 28]
SIZES = {"int": 4, "int16_t": 2, "u2": 2, "u4": 4, "uint32_t": 4, "bool": 1, "CompLevel": 1,
         "const uint": 4, "unsigned short": 2, "JavaThreadState": 4, "pid_t": 4,
         "OSThread::thread_id_t": 4}


def fields_of(jdk):
    fields, sizes = {}, {}
    for line in open(os.path.join(HERE, "../unit/data/vmstructs.inc")):
        row = re.match(r'FIELD\((\d+), "(.*?)", "(.*?)", "(.*?)", 0, (\d+)\)', line)
        if row and int(row[1]) == jdk:
            fields[row[3]] = (int(row[5]), SIZES.get(row[4], 8))
        row = re.match(r'TYPE\((\d+), "(.*?)", ".*?", (\d+)\)', line)
        if row and int(row[1]) == jdk:
            sizes[row[2]] = int(row[3])
    return fields, sizes


def at(place):
    return 0x55 << 56 | place


class Memory:
    def __init__(self, jdk):
        self.bytes = bytearray(16384)
        self.fields, self.sizes = fields_of(jdk)
        self.bias = 1 if jdk >= 20 else 0

    def word(self, place, value, size=8):
        self.bytes[place:place + size] = struct.pack("<Q", value & (1 << 64) - 1)[:size]

    def put(self, base, name, value):
        if name in self.fields:
            offset, size = self.fields[name]
            self.word(base + offset, value, size)

    def text(self, place, value):
        self.bytes[place:place + len(value)] = value.encode()

    def symbol(self, place, value):
        self.put(place, "_length", len(value))
        body = self.fields.get("_body", (6, 0))[0]
        self.text(place + body, value)


def add_method(m):
    """Method at 0x400; ConstMethod, pool, class and symbols behind it."""
    pool = 0x500
    m.put(0x400, "_constMethod", at(0x480))
    m.put(0x480, "_constants", at(pool))
    m.put(0x480, "_constMethod_size", 16)
    m.put(0x480, "_code_size", 4)
    m.put(0x480, "_flags", 1)
    m.put(0x480, "_flags._flags", 1)
    m.put(0x480, "_name_index", 1)
    m.put(0x480, "_signature_index", 2)
    lines = 0x480 + m.sizes["ConstMethod"] + 4
    m.bytes[lines:lines + 6] = bytes([7, 0xff, 10, 8, 3 << 3 | 1, 0])
    m.put(pool, "_pool_holder", at(0x600))
    m.word(pool + m.pool_length[0], 4, m.pool_length[1])
    m.put(pool, "_source_file_name_index", 3)
    for slot in 1, 2, 3:
        m.word(pool + m.sizes["ConstantPool"] + 8 * slot, at(0x700 + 0x20 * slot))
    m.word(0x600 + m.klass_name[0], at(0x700))
    m.word(0x600 + m.klass_constants[0], at(pool))
    for n, text in enumerate(["A$$Lambda+0x1", "run", "()V", "A.java"]):
        m.symbol(0x700 + 0x20 * n, text)


def add_nmethod(m):
    """nmethod at 0xc00 with one inlined frame."""
    b = m.bias
    scopes = bytes([0, b, 1 + b, 4 + b, 1 + b, 1 + b, 1 + b])
    descs = struct.pack("<12i", -1, 0, 0, 0, 16, 1, 0, 0, 32, 4, 0, 0)
    m.put(0xc00, "_name", at(0x1f80))
    m.put(0xc00, "_method", at(0x400))
    m.put(0xc00, "_compile_id", 9)
    m.put(0xc00, "_comp_level", 4)
    if "_immutable_data" in m.fields:
        m.put(0xc00, "_immutable_data", at(0x1000))
        m.put(0xc00, "_immutable_data_size", 0x40 + len(scopes))
        m.put(0xc00, "_scopes_pcs_offset", 0)
        m.put(0xc00, "_scopes_data_offset", 0x40)
        m.put(0xc00, "_mutable_data", at(0x1100))
        m.put(0xc00, "_mutable_data_size", 16)
        m.put(0xc00, "_relocation_size", 8)
        m.bytes[0x1000:0x1000 + len(descs)] = descs
        m.bytes[0x1040:0x1040 + len(scopes)] = scopes
        m.word(0x1108, at(0x400))
    else:
        m.put(0xc00, "_metadata_offset", 0x4f8)
        m.put(0xc00, "_scopes_data_begin", at(0x1100))
        m.put(0xc00, "_scopes_data_offset", 0x500)
        m.put(0xc00, "_scopes_pcs_offset", 0x540)
        m.put(0xc00, "_dependencies_offset", 0x540 + len(descs))
        m.word(0x10f8, at(0x400))
        m.bytes[0x1100:0x1100 + len(scopes)] = scopes
        m.bytes[0x1140:0x1140 + len(descs)] = descs


def add_code(m):
    """A heap at 0x2000 with a blob, segment map at 0x1e00, interpreter queue at 0x1c00."""
    heap = 0x1800
    m.word(0, at(0x40))
    m.word(8, at(heap))
    m.word(16, at(0x1c00))
    m.word(24, 0x1234)
    m.put(0x40, "_len", 1)
    m.put(0x40, "_data", at(0x80))
    m.word(0x80, at(heap))
    memory, segmap = heap + m.fields["_memory"][0], heap + m.fields["_segmap"][0]
    m.put(memory, "_low_boundary", at(0x2000))
    m.put(memory, "_high_boundary", at(0x3000))
    m.put(memory, "_high", at(0x3000))
    m.put(segmap, "_low_boundary", at(0x1e00))
    m.put(heap, "_log2_segment_size", 7)
    m.bytes[0x1e00:0x1e20] = bytes([0, 1, 2, 3, 0, 1, 2, 3]) + b"\xff" * 24
    m.text(0x1f80, "nmethod")
    m.text(0x1fa0, "Interpreter")
    m.text(0x1fc0, "method entry point (x)")
    for block, name in (0x2000, 0x1f80), (0x2200, 0x1fa0):
        blob = block + m.sizes["HeapBlock"]
        m.word(block, 4, 4)
        m.put(block, "_used", 1)
        m.put(blob, "_name", at(name))
        m.put(blob, "_code_begin", at(block + 0x100))
        m.put(blob, "_code_end", at(block + 0x200))
        m.put(blob, "_code_offset", 0xf0)
        m.put(blob, "_data_offset", 0x1f0)
    m.put(0x1c00, "_stub_buffer", at(0x2300))
    m.put(0x1c00, "_buffer_limit", 0x80)
    m.put(0x1c00, "_queue_end", 0x40)
    m.word(0x2300 + m.codelet_size[0], 0x40, 4)
    m.put(0x2300, "_description", at(0x1fc0))


def add_threads(m):
    m.word(32, at(0x1b00))
    m.word(40, at(0x3000))
    m.word(0x1b00 + 4, 1, 4)
    m.word(0x1b00 + 16, at(0x1b40))
    m.word(0x1b40, at(0x3000))
    m.put(0x3000, "_osthread", at(0x1b80))
    m.put(0x3000, "_thread_state", 4)
    m.put(0x1b80, "_thread_id", 77)


def own(jdk, owner, name):
    for line in open(os.path.join(HERE, "../unit/data/vmstructs.inc")):
        row = re.match(r'FIELD\(%d, "%s", "%s", "(.*?)", 0, (\d+)\)'
                       % (jdk, re.escape(owner), re.escape(name)), line)
        if row:
            return int(row[2]), SIZES.get(row[1], 8)
    return 0, 8


def make(jdk):
    m = Memory(jdk)
    m.klass_constants = own(jdk, "InstanceKlass", "_constants")
    m.klass_name = own(jdk, "Klass", "_name")
    m.pool_length = own(jdk, "ConstantPool", "_length")
    m.fields["_length"] = own(jdk, "Symbol", "_length")
    m.fields["_constants"] = own(jdk, "ConstMethod", "_constants")
    m.codelet_size = own(jdk, "InterpreterCodelet", "_size")
    m.fields["_name"] = own(jdk, "CodeBlob", "_name")
    add_method(m)
    add_nmethod(m)
    add_code(m)
    add_threads(m)
    return bytes([5 + JDKS.index(jdk)]) + bytes(m.bytes).rstrip(b"\0")


def main():
    folder = os.path.join(HERE, "corpus/vmstructs")
    os.makedirs(folder, exist_ok=True)
    for jdk in 11, 17, 25:
        with open(os.path.join(folder, "jdk%d" % jdk), "wb") as out:
            out.write(make(jdk))
    with open(os.path.join(folder, "cmdline"), "wb") as out:
        out.write(b"\2java\0-cp\0x\0--add-opens\0a=b\0-jar\0a.jar\0")
    with open(os.path.join(folder, "debuginfo"), "wb") as out:
        out.write(bytes([0, 0, 2, 4, 2, 2, 2, 0xff, 11, 2, 35, 0]))


main()
