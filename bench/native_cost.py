# SPDX-License-Identifier: Apache-2.0
"""
What native memory costs a program that allocates a lot: CPU time of the whole process for the same
work, beside Native Memory Tracking and async-profiler's nativemem.

NMT is chosen at the start of a JVM, so each figure is of a JVM of its own: one without anything and
one of each kind are a turn, and a ratio is of two JVMs of one turn. The null pairs are the noise.
"""
import os
import statistics
from pathlib import Path

import cputime
from harness import Jvm, Run, expect

ROUNDS = 6
EXACT = ("-e", "native", "--max-overhead", "none")

# Of a quiet machine, where async-profiler is not there to be run beside ours.
PUBLISHED_EXACT = 1.25


def agent(run):
    library = Path(os.environ["ASPROF"]).resolve().parents[1] / "lib" / "libasyncProfiler.so"
    return "-agentpath:%s=start,nativemem,file=%s" % (library, run.output(".jfr"))


# Name: (flags of the JVM, arguments of the recorder).
KINDS = {
    "null": (None, None),
    "exact": (None, EXACT),
    "default": (None, ("-e", "native")),
    "NMT summary": (lambda run: "-XX:NativeMemoryTracking=summary", None),
    "NMT detail": (lambda run: "-XX:NativeMemoryTracking=detail", None),
    "async-profiler nativemem": (agent, None),
}


def used_ns(jdk, classes, kind):
    """CPU time of the work, and time in BPF a block in us, where there is one."""
    flag, arguments = KINDS[kind]
    run = Run(jdk, "native cost")
    try:
        flags = [flag(run)] if flag else []
        jvm = run.track(Jvm([jdk.java, "-Xmx512m", *flags, "-cp", classes, "NativeHeavy", ROUNDS]))
        jvm.ready()
        if arguments:
            path = run.output()
            scope = run.scope("-p", jvm.pid, *arguments, "-f", path, "-q")
            run.wait_recording(scope)
        before = cputime.process_cpu_ns(jvm.pid)
        jvm.go()
        jvm.line("DONE", 120)
        used = cputime.process_cpu_ns(jvm.pid) - before
        if not arguments:
            return used, None
        scope.signal(2)
        counts = run.finish(scope, path).raw["native"]["counts"][0]
        expect(counts["allocations"] > 0, "nothing was recorded: %s" % counts)
        return used, counts["run_ns"] / 1e3 / counts["allocations"]
    finally:
        run.close()


def bench_native(jdk, classes, count, say):
    kinds = [kind for kind in KINDS if "async" not in kind or os.environ.get("ASPROF")]
    ratios, in_bpf = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    for turn in range(count):
        base = used_ns(jdk, classes, "null")[0]
        # Not always in the same order: what comes first after another may gain by it.
        for kind in kinds[turn % len(kinds):] + kinds[:turn % len(kinds)]:
            used, block_us = used_ns(jdk, classes, kind)
            ratios[kind].append(used / base)
            in_bpf[kind].append(block_us)
    medians = {}
    for kind in kinds:
        medians[kind] = statistics.median(ratios[kind])
        say("%s: NativeHeavy %d, CPU with %-24s %.3f of without, median of %d [%.3f..%.3f]%s" % (
            jdk, ROUNDS, kind, medians[kind], count, min(ratios[kind]), max(ratios[kind]),
            "" if in_bpf[kind][0] is None else "; %.2f us in BPF a block" % statistics.median(
                in_bpf[kind])))
    bar = medians.get("async-profiler nativemem", PUBLISHED_EXACT)
    say("%s: goal of exact: %.3f < %.3f: %s" % (
        jdk, medians["exact"], bar, "met" if medians["exact"] < bar else "missed"))
