# SPDX-License-Identifier: Apache-2.0
"""Big: javac, regular expressions, XML, zip and parallel streams in one JVM."""
import os
import time

from cputime import Watch
from harness import check_complete, expect, percent
from recording import total
from suite import test

FLAGS = {"": (), "ZGC": ("-XX:+UseZGC",), "interpreted": ("-Xint",)}


def is_unnamed(frame):
    return frame.is_java and (not frame.method or frame.method.startswith(("[", "+", "?")))


def check_process_cpu(recording, samples, watch):
    """The samples' time is the process's CPU time; less exactly where it must fight for the CPU."""
    meta = recording.meta
    cpu = watch.between(meta["start_time_ns"], meta["end_time_ns"])
    mine = cpu / (meta["duration_ns"] * os.cpu_count())
    got = sum(sample.value for sample in samples)
    off = percent(got - cpu, cpu)
    expect(abs(off) <= (5 if mine > 0.7 else 20), "samples say %.2f s, the process's clock %.2f s" % (
        got / 1e9, cpu / 1e9))
    return "CPU %+.1f %%, %.0f %% of the machine" % (off, 100 * mine)


def record_big(run, seconds, flags):
    jvm = run.java("Big", seconds + 60, flags=flags)
    watch = Watch(jvm.pid)
    time.sleep(2)
    try:
        recording = run.record(jvm.pid, seconds, "-F", 499)
    finally:
        watch.stop()
    samples = list(recording.samples(group="java"))
    run.note(check_complete(recording, samples))
    unnamed = total(s for s in samples if any(is_unnamed(frame) for frame in s.frames))
    share = percent(unnamed, total(samples))
    expect(share <= 0.1, "%.2f %% with an unnamed Java frame" % share)
    run.note("%.3f %% with an unnamed Java frame" % share)
    everything = list(recording.samples())
    run.note(check_process_cpu(recording, everything, watch))
    run.note("all threads: %s" % check_complete(recording, everything, 99.8))
    run.note(str(run.check_invokes(everything)))


@test("big", params={"": {"flags": ()}}, quick=[""])
def big(run, flags):
    record_big(run, 10, flags)


@test("big, 60 s", params={label: {"flags": flags} for label, flags in FLAGS.items()}, limit=300)
def big_long(run, flags):
    record_big(run, 60, flags)
