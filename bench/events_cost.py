# SPDX-License-Identifier: Apache-2.0
"""
What all that is recorded by default costs four programs: CPU time of the whole process for the same
work, beside the JVM's own recorder with its profile settings and async-profiler's cpu, alloc and
lock together.

One JVM without anything and one of each kind are a turn, and a ratio is of two JVMs of one turn. The
null pairs are the noise.
"""
import os
import statistics
from pathlib import Path

import cputime
from harness import Jvm, Run, expect

# Name: program and arguments. Each takes five seconds and more on two slow cores.
PROGRAMS = {
    "CpuMixed": ("Work", "cpu", 30),
    "AllocChurn": ("Work", "churn", 14),
    "NativeHeavy": ("NativeHeavy", 20),
    "LockChurn": ("Work", "locks", 13),
}


def own_recorder(run):
    return "-XX:StartFlightRecording=settings=profile,filename=%s" % run.output(".jfr")


def agent(run):
    library = Path(os.environ["ASPROF"]).resolve().parents[1] / "lib" / "libasyncProfiler.so"
    return "-agentpath:%s=start,event=cpu,alloc,lock,file=%s" % (library, run.output(".jfr"))


# Name: (flag of the JVM, whether we record it).
KINDS = {
    "null": (None, False),
    "jvmscope": (None, True),
    "JFR profile": (own_recorder, False),
    "async-profiler": (agent, False),
}


def used_ns(jdk, classes, program, kind):
    """CPU time of the work."""
    flag, recorded = KINDS[kind]
    run = Run(jdk, "events cost")
    try:
        flags = [flag(run)] if flag else []
        jvm = run.track(Jvm([jdk.java, "-Xmx512m", *flags, "-cp", classes, *program]))
        jvm.ready()
        if recorded:
            path = run.output(".jfr")
            scope = run.scope("-p", jvm.pid, "-f", path, "-q")
            run.wait_recording(scope)
        before = cputime.process_cpu_ns(jvm.pid)
        jvm.go()
        jvm.line("DONE", 300)
        used = cputime.process_cpu_ns(jvm.pid) - before
        if recorded:
            scope.signal(2)
            expect(scope.wait(60) == 0, "jvmscope failed: %s" % scope.err)
        return used
    finally:
        run.close()


def bench_events(jdk, classes, count, say):
    kinds = [kind for kind in KINDS if "async" not in kind or os.environ.get("ASPROF")]
    for name, program in PROGRAMS.items():
        ratios, bases = {kind: [] for kind in kinds}, []
        for turn in range(count):
            bases.append(used_ns(jdk, classes, program, "null"))
            # Not always in the same order: what comes first after another may gain by it.
            for kind in kinds[turn % len(kinds):] + kinds[:turn % len(kinds)]:
                ratios[kind].append(used_ns(jdk, classes, program, kind) / bases[-1])
        medians = {kind: statistics.median(ratios[kind]) for kind in kinds}
        for kind in kinds:
            say("%s: %s of %.1f s, CPU with %-14s %.3f of without, median of %d [%.3f..%.3f]" % (
                jdk, name, statistics.median(bases) / 1e9, kind, medians[kind], count,
                min(ratios[kind]), max(ratios[kind])))
        ours, bar = medians["jvmscope"], medians["null"] + 0.03
        say("%s: %s, goals of the default events: %.3f <= %.3f: %s; not above JFR, %.3f: %s" % (
            jdk, name, ours, bar, "met" if ours <= bar else "missed", medians["JFR profile"],
            "met" if ours <= medians["JFR profile"] else "missed"))
