# SPDX-License-Identifier: Apache-2.0
"""Reads class files: which method an instruction invokes, and its line number."""
import struct

INVOKES = {0xB6: "invokevirtual", 0xB7: "invokespecial", 0xB8: "invokestatic",
           0xB9: "invokeinterface", 0xBA: "invokedynamic"}

# Bytes after the tag of each kind of constant; 1 is a string of its own length.
CONSTANT_SIZE = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4,
                 18: 4, 19: 2, 20: 2}


class Method:
    def __init__(self, name, signature):
        self.name = name
        self.signature = signature
        self.code = b""
        self.lines = []

    def line(self, bci):
        """The line of the last row at or before bci; -1 when there is no table."""
        best = (-1, -1)
        for start, line in self.lines:
            if best[0] <= start <= bci:
                best = (start, line)
        return best[1]


class ClassFile:
    def __init__(self, data):
        self.data = data
        self.at = 8
        self.constants = self._constants()
        self.at += 6
        self.at += 2 + 2 * self._peek()
        self.methods = {}
        self._members(keep=False)
        self._members(keep=True)

    def _peek(self):
        return struct.unpack_from(">H", self.data, self.at)[0]

    def _u2(self):
        self.at += 2
        return struct.unpack_from(">H", self.data, self.at - 2)[0]

    def _u4(self):
        self.at += 4
        return struct.unpack_from(">I", self.data, self.at - 4)[0]

    def _constants(self):
        count = self._u2()
        found = [None] * count
        index = 1
        while index < count:
            tag = self.data[self.at]
            self.at += 1
            size = self._u2() if tag == 1 else CONSTANT_SIZE[tag]
            found[index] = (tag, self.data[self.at:self.at + size])
            self.at += size
            index += 2 if tag in (5, 6) else 1
        return found

    def utf8(self, index):
        return self.constants[index][1].decode("utf-8", "replace")

    def _members(self, keep):
        for _ in range(self._u2()):
            _, name, signature = self._u2(), self._u2(), self._u2()
            method = Method(self.utf8(name), self.utf8(signature))
            for _ in range(self._u2()):
                kind, size = self.utf8(self._u2()), self._u4()
                if keep and kind == "Code":
                    self._code(method)
                else:
                    self.at += size
            if keep:
                self.methods[method.name, method.signature] = method

    def _code(self, method):
        self.at += 4
        size = self._u4()
        method.code = self.data[self.at:self.at + size]
        self.at += size
        handlers = self._u2()
        self.at += 8 * handlers
        for _ in range(self._u2()):
            kind, size = self.utf8(self._u2()), self._u4()
            if kind == "LineNumberTable":
                method.lines += [(self._u2(), self._u2()) for _ in range(self._u2())]
            else:
                self.at += size

    def invoked(self, method, bci):
        """(opcode, name, signature) of the invoke at bci; (opcode, None, None) for others."""
        opcode = method.code[bci]
        if opcode not in INVOKES:
            return opcode, None, None
        index = struct.unpack_from(">H", method.code, bci + 1)[0]
        reference = struct.unpack(">HH", self.constants[index][1])
        name, signature = struct.unpack(">HH", self.constants[reference[1]][1])
        return opcode, self.utf8(name), self.utf8(signature)
