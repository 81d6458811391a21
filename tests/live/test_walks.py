# SPDX-License-Identifier: Apache-2.0
"""The kernel's walk beside another's: a reference walker on the same registers, and jstack."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import jdks
from harness import Failure, Process, Skip, expect, percent
from suite import test

sys.path.insert(0, str(Path(__file__).resolve().parent / "walk"))
import walk  # noqa: E402  (the reference walker: ptrace and vmStructs, in Python)

STACKS = jdks.BUILD / "stacks"
# enum jvs_frame_kind
NATIVE, UNMAPPED, INTERPRETED, NMETHOD = 1, 2, 3, 4
NO_BCI = 0xffffffff
LEAF = 0x80
# enum jvs_frame_how of an interpreted leaf whose bci nobody can know
HALF_BUILT = (9, 10, 11, 12, 13)


def name_raw(jvm, raw):
    """The frames of a raw stack as the reference walker names its own."""
    out = []
    for kind, how, address, offset, _ in raw:
        leaf = bool(how & LEAF)
        if kind == INTERPRETED:
            out.append(jvm.jframe("Interpreted", address, offset if offset != NO_BCI else -1))
        elif kind == NMETHOD:
            header = 64 if jvm.o["cbegin"] is None else 120
            blob = jvm.bpc.get(address) or jvm.blob(address + header)
            out += jvm.nmframes(blob, blob.cb + offset, leaf)
        elif kind in (NATIVE, UNMAPPED):
            at = address if leaf else address - 1
            elf, bias = jvm.elf_at(at)
            symbol = elf.sym(at - bias) if elf else None
            out.append(walk.Frame(type="Native", name=symbol[0] if symbol else None))
        else:
            out.append(walk.Frame(type="Stub", name="stub"))
    return out


def keys(frames, raw):
    """What of each frame must agree. The bci of a leaf that is half built is not known."""
    half = bool(raw) and raw[0][0] == INTERPRETED and raw[0][1] & ~LEAF in HALF_BUILT
    out = []
    for i, frame in enumerate(frames):
        bci = frame.get("bci") if frame.get("cls") else 0
        out.append((frame["type"], frame.get("cls"), None if frame["type"] == "Stub" else frame["name"],
                    0 if i == 0 and (half or bci == -1) else bci))
    return out


class Differ:
    """Arms the recorder, waits for a stopped thread, walks it a second time."""

    def __init__(self, run, jvm):
        self.pid = jvm.pid
        self.scope = run.track(Process([STACKS, "arm", self.pid]))
        self.same = self.different = self.moved = self.none = 0
        self.why = Counter()
        self.examples = []
        self.seen = 0

    def next_stack(self):
        self.scope.process.stdin.write("\n")
        self.scope.process.stdin.flush()
        end = time.monotonic() + 10
        while len(self.scope.out) <= self.seen:
            if time.monotonic() > end or self.scope.process.poll() is not None:
                raise Failure("no stack in 10 s: %s" % " | ".join(self.scope.err[-3:]))
            time.sleep(0.001)
        self.seen += 1
        return json.loads(self.scope.out[self.seen - 1])

    def once(self, reference):
        stack = self.next_stack()
        if stack["status"] == "none":
            self.none += 1
            return
        # The signal is on its way: the thread stops before its next instruction.
        time.sleep(0.002)
        registers = walk.stop_all(self.pid)
        try:
            self.compare(reference, stack, registers.get(stack["tid"]))
        finally:
            walk.release(registers)
            os.kill(self.pid, signal.SIGCONT)

    def compare(self, reference, stack, registers):
        if not registers or registers["rip"] != stack["start_pc"] or \
                registers["rsp"] != stack["start_sp"]:
            self.moved += 1
            return
        for cache in (reference.mem.cache, reference.bpc, reference.nms, reference.methods):
            cache.clear()
        frames, note = reference.walk(registers, 8192)
        try:
            ours = keys(name_raw(reference, stack["frames"]), stack["frames"])
        except (OSError, KeyError, ValueError, IndexError, AttributeError) as error:
            ours = [repr(error)]
        theirs = keys(frames, stack["frames"])
        if ours == theirs and (stack["status"] == "complete") == (note is None):
            self.same += 1
            return
        self.different += 1
        self.why["ours %s, theirs %s" % (stack["status"], note)] += 1
        at = next((i for i in range(max(len(ours), len(theirs)))
                   if ours[i:i + 1] != theirs[i:i + 1]), 0)
        self.examples.append("at %d of %d/%d (%s, %s): ours %s, theirs %s" % (
            at, len(ours), len(theirs), stack["status"], note,
            ours[max(0, at - 1):at + 3], theirs[max(0, at - 1):at + 3]))


RUNS = {"default": {"flags": ()}, "-Xint": {"flags": ("-Xint",)}}


@test("differential", params=RUNS, limit=900)
def differential(run, flags, count=2000):
    if os.uname().machine != "x86_64":
        raise Skip("the reference walker knows x86-64 only")
    jvm = run.java("T", 600, 1, flags=flags)
    time.sleep(4)
    differ = Differ(run, jvm)
    reference = None
    end = time.monotonic() + 600
    for i in range(count + count // 20):
        if differ.same + differ.different >= count or time.monotonic() > end:
            break
        # The committed end of the code heap grows: look again now and then.
        if i % 100 == 0:
            reference = walk.JVM(jvm.pid)
        differ.once(reference)
    compared = differ.same + differ.different
    text = "%d of %d identical, %d moved, %d none; %s" % (
        differ.same, compared, differ.moved, differ.none, dict(differ.why))
    run.note(text)
    expect(compared >= count * 0.9, "only %d stacks could be compared: %s" % (compared, text))
    expect(percent(differ.same, compared) >= 99.9, "%s\n%s" % (text, "\n".join(differ.examples[:5])))


def jstack(jdk, pid):
    """{tid: (name, frames)} as jstack prints them, without module names."""
    text = subprocess.run([jdk.home / "bin" / "jstack", str(pid)], capture_output=True, text=True,
                          timeout=60, check=True).stdout
    threads, frames = {}, None
    for line in text.splitlines():
        head = re.match(r'"(.*?)".* nid=(0x[0-9a-f]+|\d+)', line)
        frame = re.match(r"\s+at (.*)$", line)
        if head:
            frames = []
            threads[int(head.group(2), 0)] = (head.group(1), frames)
        elif frame and frames is not None:
            frames.append(re.sub(r"\([a-zA-Z][\w.]*(@[^/)]*)?/", "(", frame.group(1)))
        elif line.startswith("JNI global"):
            frames = None
    return threads


@test("blocked threads equal jstack", quick=True, limit=120)
def blocked(run):
    seconds = 12
    # The recorder must be there when the threads go to sleep.
    jvm = run.java("T", 600, 1, wait=True)
    scope = run.track(Process([STACKS, "switch", jvm.pid, seconds]))
    time.sleep(3)
    jvm.go()
    time.sleep(4)
    before = jstack(run.jdk, jvm.pid)
    status = scope.wait(seconds + 30)
    expect(status == 0, "stacks ended with %s: %s" % (status, " | ".join(scope.err[-3:])))
    after = jstack(run.jdk, jvm.pid)
    ours = {row["tid"]: row for row in map(json.loads, scope.out)}
    names = {tid: name for tid, (name, frames) in before.items()
             if name.startswith("b-") and after.get(tid, (None, None))[1] == frames}
    expect(len(names) >= 10, "only %d blocked threads" % len(names))
    wrong = []
    for tid, name in names.items():
        row = ours.get(tid, {"status": "never seen", "frames": []})
        if row["frames"] != before[tid][1] or row["status"] != "complete":
            wrong.append("%s (%s):\n  ours   %s\n  jstack %s" % (
                name, row["status"], row["frames"][:6], before[tid][1][:6]))
    expect(not wrong, "%d of %d differ\n%s" % (len(wrong), len(names), "\n".join(wrong[:4])))
    run.note("%d threads, %d frames" % (len(names), sum(len(before[t][1]) for t in names)))


@test("recalled stacks", jdks=["compiled", "interpreted"], params={
    "compiled": {"flags": ()},
    "interpreted": {"flags": ("-Xint",)},
    "in a small code cache": {"flags": ("-XX:ReservedCodeCacheSize=4m", "-XX:-TieredCompilation")},
    "of ZGC": {"flags": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC")},
})
def recalled(run, flags):
    """A stack that the kernel takes for one it knows is walked, too: both must say the same."""
    seconds = 10
    # Frames of their own; and C2 of JDK 17 has crashed when it inlined turn() into itself.
    flags += ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,StackChurn::*")
    jvm = run.java("StackChurn", seconds, wait=True, flags=flags, hold=1)
    scope = run.track(Process([STACKS, "recalled", jvm.host_pid, seconds + 1]))
    time.sleep(1.5)
    jvm.go()
    status = scope.wait(seconds + 60)
    expect(status == 0, "stacks ended with %s: %s" % (status, " | ".join(scope.err[-3:])))
    counts = json.loads(scope.out[-1])
    truth = jvm.truth()
    expect(truth["unloaded"] > 20 and truth["collections"] > 5, "nothing changes: %s" % truth)
    expect(counts["same"] > 1000, "too few are recalled: %s of %s" % (counts, truth))
    expect(counts["other"] == 0, "%s are not what a walk finds" % counts)
    run.note("%d recalled, %d other; %d classes unloaded, %d collections" % (
        counts["same"], counts["other"], truth["unloaded"], truth["collections"]))
