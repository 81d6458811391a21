# SPDX-License-Identifier: Apache-2.0
"""Names, lines and inlining of all compiled code of a JVM, beside the reference walker's."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jdks
from harness import Skip, expect
from suite import test

sys.path.insert(0, str(Path(__file__).resolve().parent / "walk"))
import walk  # noqa: E402  (the reference walker: ptrace and vmStructs, in Python)

# enum jvs_frame_kind
INTERPRETED, NMETHOD, STUB = 3, 4, 5
MASK = 0xffffffff


class Reference(walk.JVM):
    """The reference walker, which here also keeps the addresses of the methods it names."""

    def jframe(self, typ, ma, bci, **more):
        frame = super().jframe(typ, ma, bci, **more)
        frame["method"] = ma
        return frame

    def each_blob(self):
        length = self.v.fields["HeapBlock::Header", "_length"]
        narrow = self.v.ftypes["HeapBlock::Header", "_length"] == "uint32_t"
        for low, _, _, shift, committed in self.heaps:
            block = low
            while block < committed:
                segments = (self.mem.u32 if narrow else self.mem.u64)(block + length)
                if not segments:
                    break
                blob = self.blob(block + self.hb)
                if blob and blob.addr == block + self.hb:
                    yield blob
                block += segments << shift


def line_of(frame):
    """A frame as names.c prints it."""
    level = frame.get("level", 0)
    level = level if 1 <= level <= 4 else 0
    return "\t".join([frame["type"], frame["cls"], frame["name"], frame["sig"], str(frame["bci"]),
                      str(frame["line"]), frame["src"] or "", str(level)])


class Questions:
    def __init__(self, reference):
        self.reference = reference
        self.asked = []
        self.expected = []
        self.methods = {}

    def add(self, kind, address, offset, cookie, leaf, lines):
        self.asked.append("%d %x %d %d %d" % (kind, address, offset, cookie & MASK, leaf))
        self.expected.append(lines)

    def keep(self, frames):
        for frame in frames:
            self.methods[frame["method"]] = True
        return [line_of(frame) for frame in frames]

    def add_compiled(self, blob):
        info = self.reference.nminfo(blob)
        if blob.name == "native nmethod":
            if info["method"]:
                frames = self.reference.nmframes(blob, blob.cb, False)
                self.add(NMETHOD, blob.addr, 0, info["cid"], 0, self.keep(frames))
            return
        places = set()
        for desc in info["pd"]:
            if 0 <= desc[0] < blob.ce - blob.cb:
                places |= {(desc[0], 0), (desc[0], 1), (max(desc[0] - 1, 0), 1), (desc[0] + 1, 1)}
        for offset, leaf in sorted(places):
            frames = self.reference.nmframes(blob, blob.cb + offset, leaf)
            desc = next((d for d in info["pd"] if d[0] >= offset + leaf and d[0] >= 0), None)
            if not desc or not desc[1]:
                # The walker says bci 0 where nothing was recorded; we say that it is unknown.
                native = self.reference.method(frames[0]["method"])["native"]
                frames[0].update(bci=-1, line=-2 if native else -1)
            self.add(NMETHOD, blob.addr, offset, info["cid"], leaf, self.keep(frames))

    def add_interpreted(self, address):
        method = self.reference.method(address)
        kind = "Native" if method["native"] else "Interpreted"
        bcis = {0, method["csize"] // 2}
        for bci, _ in method["lines"]:
            bcis |= {bci, bci + 1}
        for bci in sorted(bcis):
            frame = self.reference.jframe(kind, address, bci)
            self.add(INTERPRETED, address, bci, method["cm"] >> 3, 0, [line_of(frame)])

    def collect(self):
        blobs = list(self.reference.each_blob())
        for blob in blobs:
            if blob.nm:
                self.add_compiled(blob)
            else:
                self.add(STUB, blob.addr, 0, 0, 0, ["Stub\t" + blob.name])
        for address in list(self.methods):
            self.add_interpreted(address)
        return sum(blob.nm for blob in blobs)

    def compare(self, text):
        answers = [answer.split("\n") for answer in text.split("\n\n")[:-1]]
        expect(len(answers) == len(self.asked), "%d questions, %d answers" % (
            len(self.asked), len(answers)))
        wrong = ["%s:\n  ours   %s\n  theirs %s" % (asked, ours, theirs) for asked, ours, theirs
                 in zip(self.asked, answers, self.expected) if ours != theirs]
        expect(not wrong, "%d of %d differ\n%s" % (len(wrong), len(answers),
                                                   "\n".join(wrong[:5])))


RUNS = {"T": {"program": "T"}, "Big": {"program": "Big"}}


@test("all names equal the reference walker's", params=RUNS, needs_bpf=False,
      lowest=8, limit=180, modes=("full", "jdks"))
def all_names(run, program):
    if os.uname().machine != "x86_64":
        raise Skip("the reference walker knows x86-64 only")
    names = jdks.BUILD / "names"
    subprocess.run(["make", "-s", "BUILD=%s" % jdks.BUILD, names], cwd=jdks.ROOT, check=True)
    jvm = run.java(program if run.jdk.major >= 11 else "Shares8", 600, 1)
    time.sleep(8)
    # Nothing is compiled, freed or unloaded meanwhile.
    jvm.signal(signal.SIGSTOP)
    time.sleep(0.2)
    questions = Questions(Reference(jvm.pid))
    compiled = questions.collect()
    done = subprocess.run([names, str(jvm.pid)], input="\n".join(questions.asked) + "\n",
                          capture_output=True, text=True, errors="replace", timeout=120,
                          check=False)
    jvm.signal(signal.SIGCONT)
    expect(done.returncode == 0, done.stderr)
    questions.compare(done.stdout)
    expect(compiled >= 50, "only %d nmethods" % compiled)
    run.note("%d nmethods, %d methods, %s" % (compiled, len(questions.methods),
                                              re.sub(r"\s+", " ", done.stderr).strip()))
