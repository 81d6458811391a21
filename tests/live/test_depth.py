# SPDX-License-Identifier: Apache-2.0
"""Depth: exactly as deep as the program, or marked as cut and counted."""
import re

from harness import Failure, check_complete, expect, percent
from recording import ends_in_root, total
from suite import test

CYCLE = re.compile(r"(DeepRecursion|Recursion8)\.[abc]$")


def record_deep(run, depth, flags=(), *arguments, program="DeepRecursion"):
    jvm = run.java(program, depth, 3, flags=("-Xss16m", *flags), wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 499, *arguments)
    went = truth.get("recursion", truth)["depth"]
    expect(went == depth, "the program went %s deep" % went)
    samples = [s for s in recording.samples(name="deep") if s.has(program + ".leaf")]
    share = percent(total(samples), total(recording.samples(name="deep")))
    expect(share >= 99, "leaf() in only %.1f %% of thread deep" % share)
    return recording, samples


def expect_exact(recording, samples, depth, run):
    run.note(check_complete(recording, samples))
    for sample in samples:
        if not sample.is_complete:
            continue
        count = sum(1 for frame in sample.frames if CYCLE.match(frame.method))
        if count != depth or not sample.has("java.lang.Thread.run"):
            raise Failure("%d frames of the recursion, not %d\n%s" % (count, depth, sample.text()))
    run.check_invokes(samples)


EXACT = {str(depth): {"depth": depth} for depth in (20, 127, 128, 129, 257, 1000)}
CUT = {str(depth): {"depth": depth} for depth in (1024, 2000, 5000)}


@test("depth", params=EXACT, quick=["1000"])
def exact(run, depth):
    recording, samples = record_deep(run, depth)
    expect_exact(recording, samples, depth, run)


@test("depth, interpreted", params={k: v for k, v in EXACT.items() if k in ("129", "1000")})
def exact_interpreted(run, depth):
    recording, samples = record_deep(run, depth, ("-Xint",))
    expect_exact(recording, samples, depth, run)


@test("depth over the limit", params=CUT, quick=["2000"])
def cut(run, depth):
    cut_of(run, depth)


def cut_of(run, depth, program="DeepRecursion"):
    # Inlined calls are no frames of their own: without inlining the depth is that of the stack.
    recording, samples = record_deep(run, depth, ("-XX:CompileCommand=dontinline,%s::*" % program,),
                                     program=program)
    whole = [s for s in samples if s.state != "truncated"]
    expect(not whole, "not marked truncated:\n%s" % (whole[0].text() if whole else ""))
    rootless = [s for s in samples if not ends_in_root(s.frames)]
    expect(not rootless, "the root is gone:\n%s" % (rootless[0].text() if rootless else ""))
    # Kernel frames come on top.
    deepest = max(sum(frame.kind != "kernel" for frame in s.frames) for s in samples)
    expect(deepest <= 1026, "%d frames kept" % deepest)
    counted = recording.quality["truncated_by"].get("max_depth", 0)
    expect(counted >= total(samples), "%d samples cut, %d counted" % (total(samples), counted))
    run.note("%d samples, all truncated, root kept, %d frames" % (total(samples), deepest))


@test("depth with --max-depth 8192", params=CUT)
def deeper(run, depth):
    recording, samples = record_deep(run, depth, (), "--max-depth", "8192")
    expect_exact(recording, samples, depth, run)
