# SPDX-License-Identifier: Apache-2.0
"""Reads what `--format json` writes (docs/json-schema.json) into objects that tests can ask."""
import json
from collections import Counter, namedtuple

JAVA_KINDS = {"interpreted", "c1", "c2", "inlined", "native"}

# The first function of every thread is in libc; these are its names where libc has symbols.
ROOT_NAMES = {"start_thread", "clone3", "__clone3", "clone", "__clone", "_start"}


class Frame(namedtuple("Frame", "kind method line bci signature file raw_class module offset number rule")):
    """One row of "frames", with its strings."""

    @property
    def is_java(self):
        return self.kind in JAVA_KINDS

    @property
    def class_name(self):
        """As the JVM has it."""
        return self.raw_class or self.method.rpartition(".")[0]

    @property
    def name(self):
        return self.method.rpartition(".")[2] if self.is_java else self.method

    def __str__(self):
        where = ":%d@%d" % (self.line, self.bci) if self.is_java else ""
        module = " (%s)" % self.module if self.module else ""
        name = self.method or "+%#x" % (self.offset or 0)
        return "%s%s%s [%s]" % (name, where, module, self.kind)


class Sample(namedtuple("Sample", "frames state thread label count value")):
    """A row of a profile: `frames` leaf first, `thread` the row of "threads" or None."""

    @property
    def java(self):
        return [frame for frame in self.frames if frame.is_java]

    @property
    def is_complete(self):
        return self.state == "complete" and ends_in_root(self.frames)

    def has(self, method):
        return any(frame.method == method for frame in self.frames)

    def text(self, limit=30):
        lines = ["    " + str(frame) for frame in self.frames[:limit]]
        if len(self.frames) > limit:
            lines.append("    ... %d frames, outermost %s" % (len(self.frames), str(self.frames[-1])))
        return "\n".join(["  %s %s x%d" % (self.state, self.thread and self.thread["name"],
                                           self.count)] + lines)


def ends_in_root(frames):
    """
    Whether the outermost frame is the thread's first function.

    A libc without symbols (all but __clone are local there) still says its module.
    """
    if not frames:
        return False
    last = frames[-1]
    if last.method.split("@")[0] in ROOT_NAMES:
        return True
    return last.kind == "cpp" and last.module.startswith(("libc.so", "libc-", "libpthread"))


class Recording:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.raw = json.load(file)
        self.meta = self.raw["meta"]
        self.jvms = self.raw["jvms"]
        self.threads = self.raw["threads"]
        self.quality = self.raw["quality"]
        strings = self.raw["strings"]

        def text(index):
            return strings[index] if index is not None and index >= 0 else ""

        self.frames = [
            Frame(row[0], text(row[1]), row[2], row[3], text(row[4]), text(row[5]), text(row[6]),
                  text(row[7]), *row[8:11])
            for row in self.raw["frames"]
        ]
        self.text = text

    @property
    def lost(self):
        return sum(self.quality["lost"].values())

    def samples(self, metric="cpu", jvm=None, tid=None, name=None, group=None):
        """The rows of a metric's profiles, of all or of some threads."""
        stacks = self.raw["stacks"]
        states = self.raw["stack_states"]
        for profile in self.raw["profiles"]:
            if profile["metric"] != metric or (jvm is not None and profile["jvm"] != jvm):
                continue
            for stack, thread, label, count, value in profile["samples"]:
                row = self.threads[thread] if thread is not None and thread >= 0 else None
                if tid is not None and (row is None or row["tid"] != tid):
                    continue
                if name is not None and (row is None or row["name"] != name):
                    continue
                if group is not None and (row is None or row["group"] != group):
                    continue
                has_stack = stack is not None and stack >= 0
                frames = [self.frames[i] for i in stacks[stack]] if has_stack else []
                state = states[stack] if has_stack else "broken"
                yield Sample(frames, state, row, text_or_none(self, label), count, value)

    def identity(self):
        """None when seen = samples + all losses and samples = complete + truncated + broken."""
        quality = self.quality
        kept = quality["complete"] + quality["truncated"] + quality["broken"]
        if quality["samples"] != kept:
            return "samples %d, but complete + truncated + broken = %d" % (quality["samples"], kept)
        if quality["seen"] != kept + self.lost:
            return "seen %d, but samples %d + lost %d" % (quality["seen"], kept, self.lost)
        for part in ("truncated", "broken"):
            if quality[part] != sum(quality[part + "_by"].values()):
                return "%s %d differs from its reasons %s" % (part, quality[part],
                                                              quality[part + "_by"])
        return None

    def hottest(self, count=5):
        leaf = Counter()
        for sample in self.samples():
            if sample.frames:
                leaf[str(sample.frames[0])] += sample.count
        return leaf.most_common(count)


def text_or_none(recording, label):
    return recording.text(label) if label is not None and label >= 0 else None


def total(samples):
    return sum(sample.count for sample in samples)
