#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes the seeds of fuzz_jfr and fuzz_import: the hostile recordings of tests/jfr that are small, a
well-formed one of a few hundred bytes, and texts in the other formats. Run by hand; the result is
committed.
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jfr"))

import broken  # noqa: E402

LARGEST = 5000


def small_recording():
    """One sample with a stack of two frames, and strings of each encoding."""
    b = broken
    m = b.Metadata()
    other = m.type(20, "app.Order", [b.field("startTime", b.LONG), b.field("name", b.STRING),
                                     b.field("value", b.LONG)], event=True)
    meta = m.event(b.types(m, other))
    symbols = b"".join(b.varint(i) + b"\3" + b.varint(len(t)) + t
                       for i, t in enumerate((b"com/example/Foo", b"run", b"()V"), 1))
    constants = b.checkpoint(
        b.pool(b.SYMBOL, 3, symbols), b.pool(b.CLASS, 1, b"\1\1"),
        b.pool(b.METHOD, 1, b"\1\1\2\3"), b.pool(b.STACK, 1, b"\1\0\2\1\1"),
        b.pool(b.STRING, 2, b"\1\3\2ab" + b"\2\4\3A\xc0\x03\x80\xb0\x03"))
    strings = (b"\0", b"\1", b"\2\1", b"\3\3\xed\xa0\x80", b"\4\2A\xff\x07", b"\5\2\xe9z")
    orders = b"".join(b.event(20, b"\1" + s + b"\5") for s in strings)
    return b.chunk(meta, b.event(b.SAMPLE, b"\1\1"), orders, constants)


def native_recording():
    """A row of each kind that only our files have of native memory."""
    b = broken
    m = b.Metadata()
    rows = {
        "Recording": (("recordingStart",), b"\1"),
        "JVM": (("pid",), b"\5"),
        "NativeSite": (("tag*", "use*", "pid", "count", "size"),
                       text(b"Other") + text(b"malloc") + b"\5\2\x10"),
        "NativeSuspect": (("tag*", "pid", "kind*", "liveSize"),
                          text(b"Other") + b"\5" + text(b"leak") + b"\x10"),
        "NativeCalls": (("tag*", "use*", "pid", "count", "address1", "function1*", "offset1"),
                        text(b"") + text(b"commit") + b"\5\1\x70" + text(b"f") + b"\3"),
        "NativeCount": (("pid", "name*", "count"), b"\5" + text(b"entries") + b"\7"),
        "ProbeBudget": (("pid", "group*", "state*", "cpuTime"),
                   b"\5" + text(b"native") + text(b"slices") + b"\x30"),
        "ProbeState": (("pid", "group*", "from*", "to*", "reason*"),
                         b"\5" + text(b"class") + text(b"exact") + text(b"counters") +
                       text(b"retry")),
        "LedgerReading": (("pid", "resident"), b"\5\x40"),
        "Ledger": (("pid", "line*", "resident"), b"\5" + text(b"malloc") + b"\x40"),
        "LedgerPart": (("pid", "line*", "part*", "resident"),
                       b"\5" + text(b"gc") + text(b"table") + b"\x20"),
        "LibcHeap": (("pid", "arenas"), b"\5\1"),
        "Buffers": (("pid", "kind*", "count"), b"\5" + text(b"direct") + b"\3"),
        "NmtTag": (("pid", "tag*", "mallocSize"), b"\5" + text(b"Code") + b"\6"),
        "Value": (("pid", "name*", "value"), b"\5" + text(b"rss_bytes") + b"\x40"),
    }
    declared, events = [], b""
    for number, (name, (fields, body)) in enumerate(rows.items(), 30):
        declared.append(m.type(number, "jvmscope." + name, [b.field("startTime", b.LONG)] + [
            b.field(field.rstrip("*"), b.STRING if field.endswith("*") else b.LONG)
            for field in fields], event=True))
        events += b.event(number, b"\1" + body)
    return b.chunk(m.event(b.types(m, *declared)), events, b.checkpoint())


def text(value):
    return b"\3" + broken.varint(len(value)) + value


def main():
    jfr, texts = HERE / "corpus" / "jfr", HERE / "corpus" / "import"
    jfr.mkdir(parents=True, exist_ok=True)
    texts.mkdir(parents=True, exist_ok=True)
    small = small_recording()
    (jfr / "small").write_bytes(small)
    (jfr / "native").write_bytes(native_recording())
    (jfr / "two").write_bytes(small + small)
    (jfr / "cut").write_bytes(small[:-20])
    for name, make in broken.HOSTILE.items():
        data = make()
        if len(data) < LARGEST:
            (jfr / name.replace(" ", "-").replace("^", "")).write_bytes(data)
    for seed, name in (("json", "full"), ("native", "native"), ("ledger", "ledger")):
        (texts / seed).write_text((HERE.parent / "golden" / (name + ".json.expected")).read_text())
    (texts / "collapsed").write_text("a.B.c;d_[k];x::y;libz.so+0x12 3\n\n# remark\njava/util/Map.get:12 1\n")


if __name__ == "__main__":
    main()
