# SPDX-License-Identifier: Apache-2.0
"""Threads that are slow to stop at a safepoint, and where they are meanwhile."""
from harness import expect, percent
from suite import test
from test_jfr import tools

SLOW_NS = 10_000_000  # what is slow for the recorder
LOOP = ["-XX:LoopStripMiningIter=0", "-XX:-UseCountedLoopSafepoints"]
INLINED = [*LOOP, "-XX:CompileCommand=quiet"]
APART = [*INLINED, "-XX:CompileCommand=dontinline,Stragglers.counted"]


def stack_of(recording, straggler):
    stack = straggler["stack"]
    return [recording.frames[at] for at in recording.raw["stacks"][stack]] if stack is not None else []


def is_culprit(recording, straggler):
    frames = stack_of(recording, straggler)
    return recording.threads[straggler["thread"]]["name"] == "slow" and any(
        frame.method == "Stragglers.counted" for frame in frames if frame.is_java)


def check(run, recording, truth):
    """Each slow safepoint names the one thread that it waited for, and the method."""
    gc = recording.raw["gc"]
    by_safepoint = {}
    for row in gc["stragglers"]:
        by_safepoint.setdefault(row["safepoint"], []).append(row)
    slow = [(at, row) for at, row in enumerate(gc["safepoints"]["events"])
            if (row["reach_ns"] or 0) >= SLOW_NS]
    expect(len(slow) >= truth["asked"] / 2,
           "%d slow safepoints, asked for %d" % (len(slow), truth["asked"]))
    named = last = 0
    for at, safepoint in slow:
        rows = by_safepoint.get(at, [])
        named += any(is_culprit(recording, row) for row in rows)
        last += any(row["late_ns"] >= safepoint["reach_ns"] / 2 for row in rows)
        expect(all(SLOW_NS <= row["late_ns"] <= safepoint["reach_ns"] for row in rows),
               "%s at %s" % (rows, safepoint))
    others = [row for row in gc["stragglers"]
              if recording.threads[row["thread"]]["name"] != "slow"]
    expect(named >= 0.9 * len(slow), "the method is named in %d of %d" % (named, len(slow)))
    expect(last >= 0.9 * len(slow), "%d of %d had to wait so long" % (last, len(slow)))
    expect(len(others) <= 0.1 * len(slow), "%d other threads of %d safepoints: %s" % (
        len(others), len(slow), [recording.threads[row["thread"]]["name"] for row in others]))
    run.note("the thread and its method are named in %.1f %% of %d slow safepoints, "
             "%d other threads" % (percent(named, len(slow)), len(slow), len(others)))


def record(run, flags, *arguments):
    jvm = run.java("Stragglers", 40, flags=flags, wait=True, hold=1)
    return run.record_all(jvm, *arguments)


@test("stragglers", params={"G1": {"collector": "G1"}, "Serial": {"collector": "Serial"}})
def where_they_stop(run, collector):
    """Without a sample: where the thread stops is still in the method that has the loop."""
    recording, truth = record(run, [*APART, "-XX:+Use%sGC" % collector], "-e", "safepoint")
    check(run, recording, truth)
    expect(not any(row["sampled"] for row in recording.raw["gc"]["stragglers"]), "samples")


@test("stragglers by samples")
def where_they_ran(run):
    """The loop is part of its caller's code, where the next poll is: a sample sees it."""
    recording, truth = record(run, INLINED, "-e", "cpu,safepoint", "-F", 199)
    check(run, recording, truth)
    rows = recording.raw["gc"]["stragglers"]
    sampled = sum(row["sampled"] for row in rows)
    expect(sampled >= 0.9 * len(rows), "%d of %d are of a sample" % (sampled, len(rows)))


@test("stragglers in JFR")
def in_jfr(run):
    path = run.output(".jfr")
    recording, _ = record(run, APART, "-e", "cpu,safepoint", "-f", path)
    rows = recording.raw["gc"]["stragglers"]
    expect(rows, "none")
    for tool in tools():
        counts, _ = tool.summary(path)
        expect(counts.get("jvmscope.Straggler") == len(rows), "%s: %s events, not %d" % (
            tool.jdk, counts.get("jvmscope.Straggler"), len(rows)))
