#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seed corpus of fuzz_perfdata: a table of counters, as a JVM has it, and damaged ones."""
import struct
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus" / "perfdata"


def entry(name, kind, value, elements=0):
    name = name.encode() + b"\0"
    name += b"\0" * (-(20 + len(name)) % 8)
    body = struct.pack("<q", value) if kind == b"J" else value.encode().ljust(elements, b"\0")
    size = 20 + len(name) + len(body)
    size += -size % 8
    head = struct.pack("<iii", size, 20, elements) + kind + b"\0\1\3"
    return (head + struct.pack("<i", 20 + len(name)) + name + body).ljust(size, b"\0")


def table(entries, count=None, first=32, accessible=1):
    data = b"".join(entries)
    return struct.pack("<IBBBBiiqii", 0xC0C0FECA, 1, 2, 0, accessible, 32 + len(data), 0, 0, first,
                       len(entries) if count is None else count) + data


ENTRIES = [entry("java.threads.live", b"J", 17), entry("sun.gc.cause", b"B", "No GC", 81),
           entry("sun.gc.generation.0.space.0.used", b"J", 1 << 30),
           entry("java.property.java.home", b"B", "/opt/jdk", 9),
           entry("sun.os.hrt.frequency", b"J", 1000000000)]


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    seeds = {
        "whole": table(ENTRIES),
        "cut": table(ENTRIES)[:-20],
        "more_than_there_are": table(ENTRIES, count=(1 << 31) - 1),
        "starting": table(ENTRIES, accessible=0),
        "behind_the_end": table(ENTRIES, first=1 << 30),
        "empty": table([]),
    }
    for name, data in seeds.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
