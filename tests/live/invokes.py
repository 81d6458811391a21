# SPDX-License-Identifier: Apache-2.0
"""
Checks stacks against class files: of two adjacent Java frames, the bytecode at the outer one's bci
must invoke the inner one, and its line must be the line of that bci.

Code without a class file (lambda forms, hidden classes, proxies) cannot be an outer frame here and
is counted as unchecked; as an inner frame it is fine below an invoke of any name.
"""
import re
import subprocess
import zipfile
from collections import Counter

import jdks
from classfile import INVOKES, ClassFile

GENERATED = re.compile(r"LambdaForm|\$\$Lambda|\$Proxy|^java\.lang\.invoke\.|Generated\w*Accessor"
                       r"|[/+]0x[0-9a-f]+|\$\$FastClass|\$\$Species|BoundMethodHandle\$")

# What stands for code between two Java frames without being a call of its own.
TRANSPARENT = re.compile(r"adapter|i2c|c2i", re.IGNORECASE)


class Classes:
    """The class files of a JDK and of the test programs, read when first asked for."""

    def __init__(self, jdk):
        self.jdk = jdk
        self.cache = jdks.LIVE / ("image-%d-%s" % (jdk.major, jdk.version))
        self.known = {}

    def prefetch(self, names):
        """Has the JDK write the class files of all these (java.lang.Thread) in one go."""
        wanted = [name.replace(".", "/") for name in names
                  if name and name not in self.known and not self._path(name)]
        if not wanted or self.jdk.major < 9:
            return
        self.cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([*self.jdk.command(), "-cp", self.jdk.class_path(), "ClassBytes",
                        self.jdk.inside(self.cache)], input="\n".join(wanted), text=True,
                       check=True, timeout=120, stdout=subprocess.DEVNULL)

    def _path(self, name):
        relative = name.replace(".", "/") + ".class"
        for folder in jdks.class_folders(self.jdk.major) + [self.cache]:
            if (folder / relative).exists():
                return folder / relative
        return None

    def get(self, name):
        if name not in self.known:
            path = self._path(name)
            data = path.read_bytes() if path else self._from_jar(name)
            self.known[name] = ClassFile(data) if data else None
        return self.known[name]

    def _from_jar(self, name):
        """JDK 8 has its classes in a jar."""
        jar = self.jdk.home / "lib" / "rt.jar"
        if not jar.exists():
            return None
        try:
            with zipfile.ZipFile(jar) as opened:
                return opened.read(name.replace(".", "/") + ".class")
        except KeyError:
            return None


class Verdict:
    def __init__(self):
        self.pairs = 0
        self.good = 0
        self.unchecked = 0
        self.lines = 0
        self.good_lines = 0
        self.bad = Counter()

    @property
    def percent(self):
        return 100 * self.good / self.pairs if self.pairs else 100.0

    @property
    def line_percent(self):
        return 100 * self.good_lines / self.lines if self.lines else 100.0

    def __str__(self):
        return "%d invoke pairs, %.3f %% right (%d unchecked), %.3f %% of %d lines right" % (
            self.pairs, self.percent, self.unchecked, self.line_percent, self.lines)

    def worst(self, count=5):
        return "\n".join("  %d x %s" % (times, text) for text, times in self.bad.most_common(count))


def is_generated(frame):
    return bool(GENERATED.search(frame.class_name) or GENERATED.search(frame.method))


def call_error(file, method, outer, inner):
    """None when `outer` calls `inner` at its bci, else what is there instead."""
    if outer.bci >= len(method.code):
        return "bci outside the code"
    opcode, name, signature = file.invoked(method, outer.bci)
    if opcode not in INVOKES:
        return "no invoke but opcode %#x" % opcode
    if name == inner.name and (signature == inner.signature or not inner.signature):
        return None
    # A bridge, or a signature-polymorphic call: the same name with other types.
    if name == inner.name:
        return None
    if opcode == 0xBA or is_generated(inner):
        return None
    return "invokes %s%s" % (name, signature)


def check_pair(classes, verdict, outer, inner, count):
    file = None if is_generated(outer) or outer.bci < 0 else classes.get(outer.class_name)
    method = file.methods.get((outer.name, outer.signature)) if file else None
    if method is None:
        verdict.unchecked += count
        return
    verdict.pairs += count
    error = call_error(file, method, outer, inner)
    if error is None:
        verdict.good += count
    else:
        verdict.bad["%s -> %s: %s" % (str(outer), str(inner), error)] += count
    if outer.line > 0 or method.lines:
        verdict.lines += count
        if outer.line == method.line(outer.bci):
            verdict.good_lines += count
        else:
            verdict.bad["%s: line should be %d" % (str(outer), method.line(outer.bci))] += count


def adjacent(frames):
    """(outer, inner) of Java frames with nothing but adapters between them."""
    inner = None
    for frame in frames:
        if frame.is_java:
            if inner is not None:
                yield frame, inner
            inner = frame
        elif not (frame.kind == "stub" and TRANSPARENT.search(frame.method)):
            inner = None


def check(samples, classes):
    """Judges all adjacent Java pairs of the samples."""
    pairs = Counter()
    for sample in samples:
        for pair in adjacent(sample.frames):
            pairs[pair] += sample.count
    classes.prefetch({outer.class_name for outer, _ in pairs if not is_generated(outer)})
    verdict = Verdict()
    for (outer, inner), count in pairs.items():
        check_pair(classes, verdict, outer, inner, count)
    return verdict
