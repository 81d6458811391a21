# SPDX-License-Identifier: Apache-2.0
"""
What native memory costs a program that allocates a lot: CPU time of the whole process for the same
work, beside Native Memory Tracking and async-profiler's nativemem.

Two parts: exact recording and the others, over the whole of a short program; and by default, over
two programs of half a minute, without their first five seconds.

NMT is chosen at the start of a JVM, so each figure is of a JVM of its own: one without anything and
one of each kind are a turn, and a ratio is of two JVMs of one turn. The null pairs are the noise.
"""
import os
import statistics
import subprocess
import time
from pathlib import Path

import cputime
from harness import Jvm, Run, expect

ROUNDS = 6
FIRST_S = 5
EXACT = ("-e", "native", "--max-overhead", "none")

BYSTANDER = "exact of another JVM"

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
    BYSTANDER: (None, EXACT),
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
            recorded = run.java("Idle") if kind == BYSTANDER else jvm
            scope = run.scope("-p", recorded.pid, *arguments, "-f", path, "-q")
            run.wait_recording(scope)
        before = cputime.process_cpu_ns(jvm.pid)
        jvm.go()
        jvm.line("DONE", 120)
        used = cputime.process_cpu_ns(jvm.pid) - before
        if not arguments:
            return used, None
        scope.signal(2)
        counts = run.finish(scope, path).raw["native"]["counts"][0]
        if kind == BYSTANDER:
            return used, None
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
    others, low, high = medians[BYSTANDER], min(ratios["null"]), max(ratios["null"])
    say("%s: goal of a bystander: %.3f <= %.3f <= %.3f: %s" % (
        jdk, low, others, high, "met" if low <= others <= high else "missed"))
    bar = medians.get("async-profiler nativemem", PUBLISHED_EXACT)
    say("%s: goal of exact: %.3f < %.3f: %s" % (
        jdk, medians["exact"], bar, "met" if medians["exact"] < bar else "missed"))


# ---- by default, over half a minute

def startup_jar(jdk, classes):
    jar = classes / "startup.jar"
    if not jar.exists():
        subprocess.run([jdk.java, "-cp", classes, "Startup", "make", jar, "20000"], check=True)
    return jar


def long_programs(jdk, classes):
    return {"NativeHeavy 60": ("NativeHeavy", 60),
            "Startup 20000, 15 times": ("Startup", startup_jar(jdk, classes), 20000, 15)}


def later_rounds(lines, began_ns):
    """CPU time of the rounds that begin FIRST_S after the program was let go."""
    ends = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("ROUND ")]
    return [after[1] - before[1] for before, after in zip(ends, ends[1:])
            if before[0] >= began_ns + FIRST_S * 10**9]


def direct_bytes(rounds):
    """What direct() of NativeHeavy allocates."""
    return rounds * sum(1024 + (i & 4095) for i in range(10000))


def told_bytes(recording):
    """Bytes allocated for direct buffers, or None where the recording says it does not know them."""
    native = recording.raw["native"]
    tags = {tag["tag"]: tag["alloc_bytes"] for tag in native["by_tag"]}
    return tags.get("Other")


def long_run(jdk, classes, program, with_us):
    """CPU time of a round, and the recording."""
    run = Run(jdk, "native cost")
    try:
        jvm = run.track(Jvm([jdk.java, "-Xmx512m", "-cp", classes, *program]))
        jvm.ready()
        if with_us:
            path = run.output()
            scope = run.scope("-p", jvm.pid, "-e", "native", "-f", path, "-q")
            run.wait_recording(scope)
        began_ns = time.monotonic_ns()
        jvm.go()
        jvm.line("DONE", 300)
        rounds = later_rounds(jvm.out, began_ns)
        expect(len(rounds) >= 5, "only %d rounds after %d s" % (len(rounds), FIRST_S))
        if with_us:
            scope.signal(2)
        return statistics.mean(rounds), run.finish(scope, path) if with_us else None
    finally:
        run.close()


def bench_long(jdk, classes, count, say):
    for name, program in long_programs(jdk, classes).items():
        bases, ratios, told = [], [], []
        for _ in range(count):
            bases.append(long_run(jdk, classes, program, False)[0])
            used, recording = long_run(jdk, classes, program, True)
            ratios.append(used / bases[-1])
            told.append(told_bytes(recording))
        bases.append(long_run(jdk, classes, program, False)[0])
        # Of those without us each and the next one are a pair, taken in turn from both sides.
        nulls = [a / b if i % 2 else b / a for i, (a, b) in enumerate(zip(bases, bases[1:]))]
        null, ours = statistics.median(nulls), statistics.median(ratios)
        say("%s: %s, CPU after %d s, by default %.3f of without, median of %d [%.3f..%.3f]; null "
            "%.3f [%.3f..%.3f]; goal %.3f <= %.3f: %s" % (
                jdk, name, FIRST_S, ours, count, min(ratios), max(ratios), null, min(nulls),
                max(nulls), ours, null + 0.03, "met" if ours <= null + 0.03 else "missed"))
        if program[0] == "NativeHeavy":
            truth = direct_bytes(program[1])
            say("%s: bytes of direct buffers, of true ones: %s (goal: within 0.9 to 1.1, or not "
                "estimated)" % (jdk, ", ".join("not estimated" if bytes_ is None else "%.3f" % (
                    bytes_ / truth) for bytes_ in told)))
