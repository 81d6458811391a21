# SPDX-License-Identifier: Apache-2.0
"""Tests for other kernels and other JDKs."""
from harness import check_complete, check_shares, expect, named
from recording import total
from suite import test
from test_big import record_big
from test_depth import cut_of, expect_exact, record_deep
from test_shares import shares_of


@test("a recording in a VM", modes=("vm",), each_jdk=False, limit=400)
def recording_in_vm(run):
    jvm = run.java("MixShares", 4, flags=("-XX:+UseSerialGC",), wait=True, hold=60)
    recording, truth = run.record_all(jvm, "-F", 199, seconds=200)
    samples = list(recording.samples(name="mix"))
    expect(total(samples) >= 200, "only %d samples" % total(samples))
    run.note(check_shares(samples, named("MixShares", truth["cpu_ns"]), 8.0))
    # The end of a thread takes long there, and has no user stack any more: only such samples are
    # left out, by what they are, and only a few.
    alive = [s for s in samples if not s.has("do_exit")]
    expect(total(samples) - total(alive) <= 3, "%d samples of a thread that ends" %
           (total(samples) - total(alive)))
    run.note(check_complete(recording, alive))
    run.note(str(run.check_invokes(samples)))


def by_language(run, program, old):
    """The program, or what stands for it in the language of 8."""
    return old if run.jdk.major < 11 else program


@test("shares", modes=("jdks",), lowest=8,
      params={"": {"flags": ()}, "interpreted": {"flags": ("-Xint",)}})
def shares_elsewhere(run, flags):
    shares_of(run, flags, program=by_language(run, "MixShares", "Shares8"))


@test("depth", modes=("jdks",), lowest=8,
      params={str(depth): {"depth": depth} for depth in (128, 1000)})
def depth_elsewhere(run, depth):
    program = by_language(run, "DeepRecursion", "Recursion8")
    recording, samples = record_deep(run, depth, program=program)
    expect_exact(recording, samples, depth, run)


@test("depth over the limit", modes=("jdks",), lowest=8)
def cut_elsewhere(run):
    cut_of(run, 2000, by_language(run, "DeepRecursion", "Recursion8"))


@test("depth 5000 with --max-depth 8192", modes=("jdks",), lowest=8)
def deeper_elsewhere(run):
    program = by_language(run, "DeepRecursion", "Recursion8")
    recording, samples = record_deep(run, 5000, (), "--max-depth", "8192", program=program)
    expect_exact(recording, samples, 5000, run)


@test("T", modes=("jdks",), lowest=11)
def t_elsewhere(run):
    jvm = run.java("T", 60)
    samples = [s for s in run.record(jvm.pid, 6, "-F", 499).samples()
               if s.thread["name"].startswith("r-")]
    judge_threads(run, samples)


@test("locks, exceptions, sorting", modes=("jdks",), lowest=8)
def locks_elsewhere(run):
    jvm = run.java("Locks8", 30)
    samples = [s for s in run.record(jvm.pid, 6, "-F", 499).samples()
               if s.thread["name"].startswith("lock-")]
    judge_threads(run, samples)


def judge_threads(run, samples):
    whole = total(samples)
    expect(whole > 300, "only %d samples" % whole)
    good = total(s for s in samples if s.is_complete)
    expect(good >= 0.999 * whole, "%d of %d complete" % (good, whole))
    run.note("%d samples, %.2f %% complete" % (whole, 100 * good / whole))
    run.note(str(run.check_invokes(samples)))


@test("big", modes=("jdks",), lowest=11)
def big_elsewhere(run):
    record_big(run, 10, ())
