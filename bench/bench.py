#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What recording costs, measured on this machine. Run it when nothing else runs.

usage: bench.py [--jdk 17,25] [--pairs 60] [--turns 9] [PART]...

Parts (all when none is named):
  sample    time in BPF per sample, by depth of the stack
  own       own CPU over 30 s at 99 Hz after start-up, resident memory, BPF maps
  start     time from the start of the command to the first sample
  detach    time until all probes of a recording are gone, with all that is recorded by default
  overhead  CPU time of the same work with and without a profiler, in interleaved pairs: nothing
            (the null pairs), ours at 99 and 997 Hz, JFR with its profile settings, and
            async-profiler at 10 and 1 ms when ASPROF names its program
  fine      the same of those whose events can be switched from outside, in pairs of 40 ms: resolves
            0.002, also on a machine that is not quiet
  native    CPU time of a program that allocates native memory, in interleaved turns: nothing, native
            memory exact and by default, NMT summary and detail, async-profiler's nativemem
  long      the same by default over two programs of half a minute, without their first 5 s
  events    CPU time of four programs with all that is recorded by default, beside JFR's profile
            settings and async-profiler's cpu, alloc and lock

Every figure is printed beside its goal; the exit status says only whether measuring worked.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import cputime  # noqa: E402
import jdks  # noqa: E402
import kernel  # noqa: E402
from harness import SCOPE, Run  # noqa: E402
from events_cost import bench_events  # noqa: E402
from native_cost import bench_long, bench_native  # noqa: E402
from overhead import bench_fine, bench_overhead  # noqa: E402
from recording import total  # noqa: E402

CLASSES = jdks.BUILD / "bench" / "classes"


def compile_bench(jdk):
    sources = sorted((ROOT / "bench" / "java").glob("*.java"))
    CLASSES.mkdir(parents=True, exist_ok=True)
    # Programs of both kinds share what is in tests/java.
    subprocess.run([jdk.javac, "-nowarn", "--release", "11", "-sourcepath", ROOT / "tests" / "java",
                    "-d", CLASSES, *sources], check=True)


def say(text):
    print(text, flush=True)


# ---- time in BPF

DEPTHS = (25, 100, 300, 1000)
GOAL_US = {25: 10, 1000: 69}


def bench_sample(jdk):
    for depth in DEPTHS:
        run = Run(jdk, "sample")
        try:
            # Interpreted: every call is a frame of its own. About 12 frames are not the recursion's.
            jvm = run.java("DeepRecursion", depth - 12, 12, flags=("-Xint", "-Xss16m"))
            time.sleep(1)
            recording = run.record(jvm.pid, 8, "-F", 997)
            seen = recording.quality["seen"]
            mean = recording.quality["bpf_ns"] / max(seen, 1) / 1000
            goal = " (goal: at most %d)" % GOAL_US[depth] if depth in GOAL_US else ""
            say("%s, %4d frames: %5.1f us in BPF a sample, %5.1f ns a frame, %d samples%s" % (
                jdk, depth, mean, 1000 * mean / depth, seen, goal))
        finally:
            run.close()


# ---- our own CPU and memory

def bench_own(jdk):
    run = Run(jdk, "own")
    try:
        jvm = run.java("Big", 60)
        time.sleep(3)
        path = run.output()
        scope = run.scope("-p", jvm.pid, "-e", "cpu", "-d", 33, "-f", path, "--no-progress")
        time.sleep(2)
        before, start = cputime.process_cpu_ns(scope.pid), time.monotonic()
        time.sleep(30)
        used = cputime.process_cpu_ns(scope.pid) - before
        share = 100 * used / 1e9 / (time.monotonic() - start)
        recording = run.finish(scope, path)
        quality = recording.quality
        say("%s, Big at 99 Hz: own CPU %.2f %% of a core over 30 s after start-up (goal: at most 1); "
            "RSS %.1f MiB (64); BPF maps %.1f MiB (32); %d samples" % (
                jdk, share, quality["own_rss_bytes"] / 2**20, quality["own_map_bytes"] / 2**20,
                quality["samples"]))
    finally:
        run.close()


# ---- start-up

def bench_start(jdk, times=9):
    run = Run(jdk, "start")
    try:
        jvm = run.java("MixShares", 120)
        time.sleep(2)
        waits = []
        for _ in range(times):
            path = run.output()
            started = time.time_ns()
            recording = run.finish(
                run.scope("-p", jvm.pid, "-e", "cpu", "-d", 1, "-F", 997, "-f", path, "-q"), path)
            if total(recording.samples()):
                waits.append((recording.meta["start_time_ns"] - started) / 1e6)
        say("%s: sampling began %.0f ms after the start of the command, median of %d [%.0f..%.0f] "
            "(goal: at most 500)" % (jdk, statistics.median(waits), len(waits), min(waits), max(waits)))
    finally:
        run.close()


# ---- the end

GIVEN_UP = re.compile(r"probes: (\d+) links were given up in ([\d.]+) ms")


def bench_detach(jdk, rounds=9):
    run = Run(jdk, "detach")
    try:
        jvm = run.java("MixShares", 120)
        time.sleep(2)
        took, links = [], set()
        for _ in range(rounds):
            path = run.output()
            scope = run.scope("-p", jvm.pid, "-d", 2, "-f", path, "--no-progress", "-v")
            run.finish(scope, path)
            found = next(filter(None, map(GIVEN_UP.search, scope.err)), None)
            if not found:
                say("%s: detach: not measured: this kernel has single links alone" % jdk)
                return
            links.add(int(found[1]))
            took.append(float(found[2]))
        say("%s: %s links were gone after %.0f ms, median of %d, at most %.0f "
            "(goal: at most 100)" % (jdk, "/".join(map(str, sorted(links))),
                                     statistics.median(took), len(took), max(took)))
    finally:
        run.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", help="major versions, with commas; all that are found")
    parser.add_argument("--pairs", type=int, default=60, help="of the overhead measurement")
    parser.add_argument("--turns", type=int, default=9, help="of the native measurements")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()

    reason = kernel.why_not()
    if reason or not SCOPE.exists():
        say("bench: not run: %s" % (reason or "%s is not there" % SCOPE))
        return 1
    found = jdks.find()
    if options.jdk:
        wanted = {int(major) for major in options.jdk.split(",")}
        found = [jdk for jdk in found if jdk.major in wanted]
    jdks.compile_all(found)
    compile_bench(found[0])
    say("bench: %s, %d cores, load average %.1f before the first measurement" % (
        os.uname().release, os.cpu_count(), os.getloadavg()[0]))
    parts = options.parts or ["sample", "own", "start", "detach", "overhead", "native", "long",
                              "events"]
    for jdk in found:
        for part in parts:
            if part == "overhead":
                bench_overhead(jdk, CLASSES, options.pairs, say)
            elif part == "fine":
                bench_fine(jdk, CLASSES, say)
            elif part == "native":
                bench_native(jdk, CLASSES, options.turns, say)
            elif part == "events":
                bench_events(jdk, CLASSES, options.turns, say)
            elif part == "long":
                bench_long(jdk, CLASSES, options.turns, say)
            else:
                {"sample": bench_sample, "own": bench_own, "start": bench_start,
                 "detach": bench_detach}[part](jdk)
    return 0


if __name__ == "__main__":
    sys.exit(main())
