# SPDX-License-Identifier: Apache-2.0
"""Broken recordings, made from good ones or byte by byte. Each is (bytes, what must be said)."""
import gzip
import random
import struct

HEADER = ">4sHHQQQQQQQ"


def varint(value):
    out = bytearray()
    for _ in range(8):
        if value < 0x80:
            break
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0xFF)
    return bytes(out)


def read_varint(data, at):
    value = 0
    for i in range(9):
        byte = data[at + i]
        if byte < 0x80 or i == 8:
            return value | byte << 7 * i, at + i + 1
        value |= (byte & 0x7F) << 7 * i
    raise AssertionError


def chunks(data):
    """(offset, size) of each chunk."""
    at, found = 0, []
    while at < len(data):
        size = struct.unpack_from(HEADER, data, at)[3]
        found.append((at, size))
        at += size
    return found


def events(data, start, size):
    """Offsets of the events of a chunk."""
    at, found = start + 68, []
    while at < start + size:
        found.append(at)
        at += read_varint(data, at)[0]
    return found


def put(data, at, *parts):
    data = bytearray(data)
    for part in parts:
        data[at:at + len(part)] = part
        at += len(part)
    return bytes(data)


def u64(value):
    return struct.pack(">Q", value)


# The id of jdk.CPUTimeSamplesLost in zgc-25.
LOST_TYPE = 126


def with_lost_samples(data, lost):
    """zgc-25 with an event behind its first header that says so many samples were lost."""
    start_ticks = struct.unpack_from(HEADER, data)[8]
    body = varint(LOST_TYPE) + varint(start_ticks) + varint(lost) + varint(0)
    event = varint(len(body) + 1) + body
    size, constants, metadata = (n + len(event) for n in struct.unpack_from(">QQQ", data, 8))
    return put(data[:68] + event + data[68:], 8, u64(size), u64(constants), u64(metadata))


def with_more_pools(data):
    """The last checkpoint of the first chunk says that it has more pools than there are."""
    at = struct.unpack_from(">Q", data, 16)[0]
    for _ in range(5):  # size, type, start, duration, distance
        _, at = read_varint(data, at)
    at += 1
    return put(data, at, bytes([data[at] | 0x7F]))


# ---- from a good recording

def from_good(data):
    """{name: (bytes, words of the message, whether the first chunk must be whole)}"""
    first, second = chunks(data)[:2]
    middle = events(data, *second)[len(events(data, *second)) // 2]
    size = len(data)
    cut = second[0] + second[1] * 2 // 3
    return {
        "cut in the second chunk": (data[:cut], ["offset"], True),
        "cut in the second header": (data[:second[0] + 30], ["offset %d" % second[0]], True),
        "zero size event": (put(data, middle, b"\0"), ["offset %d" % middle], True),
        "event larger than its chunk": (put(data, middle, b"\xff\xff\xff\xff\x7f"),
                                        ["offset %d" % middle], True),
        "unfinished": (put(data, second[0] + 64, b"\5"), ["unfinished"], True),
        "being updated": (put(data, second[0] + 64, b"\xff"), ["unfinished"], True),
        "never flushed": (put(data, second[0] + 8, u64(0), u64(0), u64(0)), ["being written"], True),
        "size of 1 GiB, no positions": (put(data, second[0] + 8, u64(1 << 30), u64(0), u64(0)),
                                        ["offset %d" % second[0]], True),
        "size 2^63 - 1": (put(data, second[0] + 8, u64(2**63 - 1)), ["offset"], True),
        "size 2^64 - 1": (put(data, second[0] + 8, u64(2**64 - 1)), ["offset"], True),
        "metadata outside the file": (put(data, second[0] + 24, u64(size * 9)), [], True),
        "metadata is another event": (put(data, second[0] + 24, u64(middle - second[0])), [], True),
        "damaged constants": (with_more_pools(data), ["damaged constants"], True),
        "no clock": (put(data, 56, u64(0)), ["clock"], True),
        "junk behind": (data + b"\x13\x37" * 350, ["offset %d" % size, "700"], True),
        "junk between": (data[:second[0]] + b"junk" * 30 + data[second[0]:],
                         ["offset %d" % second[0]], True),
        "no magic": (b"XLR\0" + data[4:], ["no format"], False),
        "version 3": (put(data, 4, b"\0\3"), ["version"], False),
        "empty": (b"", ["empty"], False),
        "40 bytes": (data[:40], ["not a JFR recording"], False),
        "only a header": (data[:68], [], False),
        "first chunk's metadata destroyed": (put(data, first[0] + 24, u64(0)), [], False),
    }


def random_damage(data, number):
    """The same number gives the same file: some bytes changed, some runs taken out or doubled."""
    r = random.Random(number)
    data = bytearray(data)
    for _ in range(r.randint(1, 30)):
        at = r.randrange(len(data))
        what = r.randrange(4)
        if what == 0:
            data[at] = r.randrange(256)
        elif what == 1:
            data[at:at + r.randint(1, 9)] = bytes([0xFF]) * r.randint(1, 9)
        elif what == 2:
            del data[at:at + r.randint(1, 50)]
        else:
            data[at:at] = data[at:at + r.randint(1, 50)]
    return bytes(data)


# ---- byte by byte

class Metadata:
    """A metadata event: strings and the tree."""

    def __init__(self):
        self.strings, self.places = [], {}

    def string(self, text):
        if text not in self.places:
            self.places[text] = len(self.strings)
            self.strings.append(text)
        return varint(self.places[text])

    def element(self, name, attributes=(), children=()):
        return b"".join([
            self.string(name), varint(len(attributes)),
            b"".join(self.string(k) + self.string(v) for k, v in attributes),
            varint(len(children)), b"".join(children)])

    def type(self, number, name, fields=(), event=False, simple=False):
        attributes = [("name", name), ("id", str(number))]
        if event:
            attributes.append(("superType", "jdk.jfr.Event"))
        if simple:
            attributes.append(("simpleType", "true"))
        return self.element("class", attributes, [self.element("field", f) for f in fields])

    def event(self, types):
        tree = self.element("root", (), [self.element("metadata", (), types)])
        strings = b"".join(b"\3" + varint(len(s.encode())) + s.encode() for s in self.strings)
        return event(0, b"\0\0" + varint(77) + varint(len(self.strings)) + strings + tree)


def event(number, body):
    body = varint(number) + body
    return pad_size(len(body) + 5) + body


def pad_size(size):
    """In five bytes."""
    return bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80,
                  size >> 21 & 0x7F | 0x80, size >> 28 & 0x7F])


def chunk(*parts):
    body = b"".join(parts)
    return struct.pack(HEADER, b"FLR\0", 2, 1, 68 + len(body), 0, 68, 10**18, 10**9, 0,
                       10**9) + b"\0\0\0\1" + body


def field(name, number, *more):
    return [("name", name), ("class", str(number)), *more]


POOL = ("constantPool", "true")
ARRAY = ("dimension", "1")
LONG, STRING, SYMBOL, STACK, FRAME, METHOD, SAMPLE, NEST, CLASS = 10, 11, 12, 13, 14, 15, 16, 17, 18


def types(m, *more):
    return [
        m.type(LONG, "long"), m.type(STRING, "java.lang.String"),
        m.type(SYMBOL, "jdk.types.Symbol", [field("string", STRING)], simple=True),
        m.type(STACK, "jdk.types.StackTrace", [field("truncated", 19), field("frames", FRAME, ARRAY)]),
        m.type(19, "boolean"),
        m.type(FRAME, "jdk.types.StackFrame", [field("method", METHOD, POOL)]),
        m.type(METHOD, "jdk.types.Method", [field("type", CLASS, POOL), field("name", SYMBOL, POOL),
                                            field("descriptor", SYMBOL, POOL)]),
        m.type(CLASS, "java.lang.Class", [field("name", SYMBOL, POOL)]),
        m.type(SAMPLE, "jdk.ExecutionSample",
               [field("startTime", LONG), field("stackTrace", STACK, POOL)], event=True), *more]


def checkpoint(*pools):
    return event(1, b"\0\0\0\0" + varint(len(pools)) + b"".join(pools))


def pool(number, count, entries):
    return varint(number) + varint(count) + entries


def with_types(*parts):
    m = Metadata()
    return chunk(m.event(types(m)), *parts)


def constants(number, count, entry, first=0):
    return checkpoint(pool(number, count, b"".join(varint(i + first) + entry for i in range(count))))


# Nothing here may take memory or time beyond its size.
# Of HOSTILE, those that take more than a second or two under sanitizers.
LARGE = ("one and a half million constants", "3.2 million constants as short as can be",
         "three million empty stacks", "a hundred thousand types",
         "a million samples of a million stacks", "half a million ledgers of 20,000 JVMs",
         "a bomb of late events")

HOSTILE = {
    "a pool of 2^40 entries": lambda: with_types(checkpoint(pool(SYMBOL, 2**40, b"\1\1"))),
    "a string of 2^40 bytes":
        lambda: with_types(checkpoint(pool(SYMBOL, 1, b"\1\3" + varint(2**40)))),
    "2^62 pools": lambda: with_types(event(1, b"\0\0\0\0" + varint(2**62))),
    "a stack of 2^40 frames":
        lambda: with_types(checkpoint(pool(STACK, 1, b"\1\0" + varint(2**40)))),
    "one and a half million constants":
        lambda: with_types(constants(SYMBOL, 1500000, b"\0", 20000)),
    "the same constant two million times":
        lambda: with_types(checkpoint(pool(SYMBOL, 2000000, b"\1\0" * 2000000))),
    "3.2 million constants as short as can be": lambda: short_constants(3200000),
    "three million empty stacks": lambda: with_types(constants(STACK, 3000000, b"\0\0")),
    "a name that is itself": lambda: with_types(
        checkpoint(pool(CLASS, 1, b"\1\1"), pool(METHOD, 1, b"\1\1\1\1"),
                   pool(STACK, 1, b"\1\0\1\1"), pool(SYMBOL, 1, b"\1\2\1"),
                   pool(STRING, 1, b"\1\2\1")), event(SAMPLE, b"\1\1")),
    "metadata nested 60,000 deep": lambda: chunk(deep_metadata(60000)),
    "types inside each other":
        lambda: chunk(nested_types(), checkpoint(pool(NEST, 1, b"\1" * 100))),
    "a type of itself": lambda: chunk(self_type(), checkpoint(pool(NEST, 1, b"\1" * 100))),
    "an array of nothing": lambda: chunk(array_of_nothing(), checkpoint(
        pool(NEST, 1, b"\1" + varint(100000) + b"\1" * 200000))),
    "60,000 types": lambda: chunk(many_types(60000)),
    "a hundred thousand types": lambda: chunk(many_types(100000)),
    "a long name of each type": lambda: chunk(long_names()),
    "a million late events": lambda: chunk(late_events()),
    "a million samples of a million stacks": lambda: chunk(many_stacks(1000000)),
    "five million late events without fields": lambda: chunk(empty_late_events(5000000)),
    "65,000 JVMs, and half a million events of the first": lambda: chunk(many_jvms()),
    "65,000 JVMs with a flag each": lambda: chunk(many_flags()),
    "2,000 JVMs and an hour of readings of the machine": lambda: chunk(many_series()),
    "series of four values each": lambda: chunk(long_series()),
    "65,000 JVMs, and counts and ledgers of some": lambda: chunk(many_rows()),
    "half a million ledgers of 20,000 JVMs": lambda: chunk(many_ledgers()),
    "a bomb of one constant": lambda: gzip.compress(with_types(long_constant(100 << 20)), 6),
    "a bomb of constants": lambda: gzip.compress(with_types(long_constant(4 << 20) * 30), 6),
    "a bomb before the metadata": lambda: gzip.compress(late_metadata(100), 6),
    "a bomb of late events": lambda: gzip.compress(chunk(empty_late_events(20000000)), 6),
}


def deep_metadata(depth):
    tree = b"\0\0\1" * depth + b"\0\0\0"
    return event(0, b"\0\0" + varint(77) + varint(1) + b"\3\1x" + tree)


def short_constants(count):
    """Of a type without fields: they are ids, and nothing else."""
    m = Metadata()
    nothing = m.type(NEST, "nothing")
    wanted = m.type(SAMPLE + 10, "jdk.OSInformation", [field("osVersion", NEST, POOL)], event=True)
    ids = b"".join(varint(i) for i in range(count))
    return chunk(m.event(types(m, nothing, wanted)), checkpoint(pool(NEST, count, ids)))


def long_constant(size):
    return checkpoint(pool(SYMBOL, 1, b"\1\3" + varint(size) + b"a" * size))


def late_metadata(count):
    """Behind so many events of a MiB; the header does not say where."""
    m = Metadata()
    data = chunk(event(99, bytes(1 << 20)) * count, m.event(types(m)))
    return put(data, 24, u64(0))


def nested_types():
    """Each has 40 fields of the next one, 12 levels of them: 40^12 fields when they are unfolded."""
    m = Metadata()
    more = [m.type(NEST + 100 + i if i else NEST, "n%d" % i,
                   [field("f%d" % k, NEST + 101 + i) for k in range(40)]) for i in range(12)]
    return m.event(types(m, *more, m.type(NEST + 112, "last", [])))


def self_type():
    m = Metadata()
    return m.event(types(m, m.type(NEST, "self", [field("me", NEST, ARRAY), field("me2", NEST)])))


def array_of_nothing():
    m = Metadata()
    return m.event(types(m, m.type(NEST, "outer", [field("a", NEST + 100, ARRAY)]),
                         m.type(NEST + 100, "inner", [])))


def many_types(count):
    m = Metadata()
    return m.event(types(m, *[m.type(1000 + i, "t") for i in range(count)]))


def long_names():
    m = Metadata()
    return m.event(types(m, *[m.type(1000 + i, "t" * 100000, [field("u" * 100000, LONG)])
                              for i in range(2000)]))


def many_samples(count):
    """One sample again and again, as short as it can be."""
    return with_types(b"\4\x10\1\1" * count)


def many_stacks(count):
    m = Metadata()
    declared = types(m)
    declared[-1] = m.type(SAMPLE, "jdk.ExecutionSample", [field("stackTrace", STACK, POOL)],
                          event=True)
    bodies = (varint(SAMPLE) + varint(i) for i in range(count))
    return m.event(declared) + b"".join(varint(len(body) + 1) + body for body in bodies)


def late_events():
    m = Metadata()
    setting = m.type(20, "jdk.ActiveSetting", [field("startTime", LONG), field("id", LONG)],
                     event=True)
    return m.event(types(m, setting)) + event(20, b"\1\1") * 1000000


def empty_late_events(count):
    m = Metadata()
    return m.event(types(m, m.type(20, "jdk.OSInformation", [], event=True))) + b"\2\x14" * count


def jvms(count):
    m = Metadata()
    ours, start = recording_of(m)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    return chunk(m.event(types(m, ours, jvm)), start,
                 *(event(21, varint(pid)) for pid in range(1, count + 1)))


def many_jvms():
    m = Metadata()
    ours = m.type(20, "jvmscope.Recording", [], event=True)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    count = m.type(22, "jvmscope.NativeCount", [field("pid", LONG)], event=True)
    jvms = b"".join(event(21, varint(pid)) for pid in range(1, 65001))
    return m.event(types(m, ours, jvm, count)) + jvms + b"\3\x16\1" * 500000


def many_flags():
    m = Metadata()
    ours = m.type(20, "jvmscope.Recording", [], event=True)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    setting = m.type(22, "jvmscope.Setting", [
        field("pid", LONG), field("kind", STRING), field("name", STRING), field("type", STRING)],
        event=True)
    flag = b"".join(b"\3" + varint(len(text)) + text for text in (b"flag", b"UseG1GC", b"bool"))
    jvms = b"".join(event(21, varint(pid)) + event(22, varint(pid) + flag)
                    for pid in range(1, 65001))
    return m.event(types(m, ours, jvm, setting)) + jvms


def recording_of(m):
    """Ours, from second 1 on."""
    return m.type(20, "jvmscope.Recording",
                  [field("recordingStart", LONG), field("recordingEnd", LONG)],
                  event=True), event(20, varint(10**9) + varint(4000 * 10**9))


def values_of(m):
    return m.type(23, "jvmscope.Value", [field("startTime", LONG), field("pid", LONG),
                                         field("name", STRING), field("value", LONG)], event=True)


def value(second, pid, name, number):
    return event(23, varint(second * 10**9) + varint(pid) + b"\3" + varint(len(name)) + name +
                 varint(number))


def many_series():
    m = Metadata()
    ours, start = recording_of(m)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    names = (b"machine_counted_at_ns", b"machine_memory_bytes", b"machine_context_switches_total")
    parts = [event(21, varint(pid)) for pid in range(1, 2001)]
    parts += [value(1, pid, name, 10**9) for pid in range(1, 2001)
              for name in (b"counted_at_ns", b"cpu_user_ns_total")]
    parts += [value(second, 0, name, second * 10**9) for second in range(1, 3600)
              for name in names]
    return m.event(types(m, ours, jvm, values_of(m))) + start + b"".join(parts)


def long_series():
    m = Metadata()
    ours, start = recording_of(m)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    parts = [event(21, varint(1))]
    parts += [value(second, 1, b"series%d" % i, 7) for i in range(4000)
              for second in (1, 1000, 2000, 3590)]
    return m.event(types(m, ours, jvm, values_of(m))) + start + b"".join(parts)


def ledgers_of(m):
    return m.type(24, "jvmscope.LedgerReading",
                  [field("startTime", LONG), field("pid", LONG)], event=True)


def many_rows():
    m = Metadata()
    ours, start = recording_of(m)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    count = m.type(22, "jvmscope.NativeCount",
                   [field("pid", LONG), field("name", STRING), field("count", LONG)], event=True)
    name = b"\3\1a"
    parts = [event(21, varint(pid)) for pid in range(1, 65001)]
    parts += [event(22, varint(pid) + name + b"\1") for pid in range(1, 16001)]
    parts += [event(24, varint(10**9) + varint(pid)) for pid in range(1, 4001)]
    return m.event(types(m, ours, jvm, count, ledgers_of(m))) + start + b"".join(parts)


def many_ledgers():
    m = Metadata()
    ours, start = recording_of(m)
    jvm = m.type(21, "jvmscope.JVM", [field("pid", LONG)], event=True)
    parts = [event(21, varint(pid)) for pid in range(1, 20001)]
    parts += [event(24, varint(10**9 + i) + varint(1 + i % 20000)) for i in range(500000)]
    return m.event(types(m, ours, jvm, ledgers_of(m))) + start + b"".join(parts)
