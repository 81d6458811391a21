# SPDX-License-Identifier: Apache-2.0
"""CPU shares: each method gets the share of samples that its own CPU clock says."""
from harness import check_complete, check_cpu, check_shares, expect, named, percent
from recording import total
from suite import test

FLAGS = {
    "": (),
    "interpreted": ("-Xint",),
    "C1 only": ("-XX:TieredStopAtLevel=1",),
    "C2 only": ("-XX:-TieredCompilation",),
    "-Xcomp": ("-Xcomp",),
    "Serial": ("-XX:+UseSerialGC",),
    "ZGC": ("-XX:+UseZGC",),
    "Shenandoah": ("-XX:+UseShenandoahGC",),
    "wide oops": ("-XX:-UseCompressedOops",),
}


def shares_of(run, flags, seconds=4, hz=997, program="MixShares"):
    jvm = run.java(program, seconds, flags=flags, wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", hz, seconds=seconds + 60)
    samples = list(recording.samples(name="mix"))
    expect(total(samples) >= 2000, "only %d samples" % total(samples))
    run.note(check_shares(samples, named(program, truth["cpu_ns"])))
    run.note(check_complete(recording, samples))
    run.note(check_cpu(samples, sum(truth["cpu_ns"].values())))
    missing = total(s for s in samples if not s.has(program + ".run"))
    expect(missing <= total(samples) / 1000, "%d samples without %s.run" % (missing, program))
    run.check_invokes(samples)


@test("shares", params={label: {"flags": flags} for label, flags in FLAGS.items()},
      quick=[""])
def shares(run, flags):
    shares_of(run, flags)


@test("shares, compact headers", lowest=25)
def shares_compact(run):
    shares_of(run, ("-XX:+UseCompactObjectHeaders",))


@test("shares, 99 Hz for long", limit=120)
def shares_slow(run):
    shares_of(run, (), seconds=25, hz=99)


@test("no safepoint bias")
def bias(run):
    flags = ("-XX:LoopStripMiningIter=0", "-XX:-UseCountedLoopSafepoints")
    jvm = run.java("SafepointBias", 4, flags=flags, wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 997)
    samples = list(recording.samples(name="bias"))
    run.note(check_shares(samples, named("SafepointBias", truth["cpu_ns"])))
    run.note(check_complete(recording, samples))


NOT_LEAF = "-XX:CompileCommand=dontinline,InlineOsr::leaf"
NOTHING = "-XX:CompileCommand=dontinline,InlineOsr::*"


# Between calls and polls C2 keeps no debug info: a leaf there is told by the next one, in every tool.
@test("inlined chain", quick=[""],
      params={"": {"flags": (NOT_LEAF,), "bar": 98}, "not inlined": {"flags": (NOTHING,), "bar": 98}})
def inlined_chain(run, flags, bar):
    jvm = run.java("InlineOsr", 6, flags=flags, wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 997)
    samples = list(recording.samples())
    chain = ["InlineOsr." + name for name in truth["chain"]]
    in_chain = [s for s in samples if s.has("InlineOsr.run")]
    whole = inlined = 0
    for sample in in_chain:
        methods = [frame.method for frame in reversed(sample.frames)]
        at = methods.index("InlineOsr.run")
        whole += sample.count * (methods[at:at + 5] == chain)
        inlined += sample.count * any(frame.kind == "inlined" for frame in sample.frames)
    share = percent(whole, total(in_chain))
    expect(share >= bar, "chain of five whole in %.1f %% of %d samples" % (share, total(in_chain)))
    run.note("chain whole in %.1f %%, inlined frames in %.1f %%" % (
        share, percent(inlined, total(in_chain))))
    ours = [s for s in samples if s.has("InlineOsr.run") or s.has("InlineOsr.osr")]
    run.note(check_shares(ours, {"InlineOsr.run": truth["cpu_ns"]["chain"],
                                 "InlineOsr.osr": truth["cpu_ns"]["osr"]}))
    run.note(check_complete(recording, ours))
    run.note(str(run.check_invokes(ours)))


HIDDEN_KINDS = {
    "lambda": "LambdaHidden.viaLambda",
    "reference": "LambdaHidden$Reference.viaReference",
    "anonymous": "LambdaHidden$1.burn",
    "reflection": "LambdaHidden.viaReflection",
    "handle": "LambdaHidden.viaHandle",
    "proxy": "LambdaHidden.viaProxy",
    "hidden": "LambdaHidden$Hidden.burn",
}


def plain(name):
    """A hidden class's name as any JDK may spell it: with / or + before the address."""
    return name.replace("+0x", "/0x")


def record_hidden(run, seconds):
    jvm = run.java("LambdaHidden", seconds, 40, wait=True, hold=20)
    return run.record_all(jvm, "-F", 997)


@test("generated code", lowest=17)
def generated_code(run):
    recording, truth = record_hidden(run, 5)
    samples = [s for s in recording.samples() if s.has("LambdaHidden.slice")]
    run.note(check_shares(samples, {HIDDEN_KINDS[kind]: ns for kind, ns in truth["cpu_ns"].items()}))
    run.note(check_complete(recording, samples))
    copies = {plain(name) for name in truth["hidden_names"]}
    frames = [frame for frame in recording.frames if plain(frame.raw_class) in copies]
    names = {frame.method for frame in frames}
    raw = {plain(frame.raw_class) for frame in frames}
    expect(names == {"LambdaHidden$Hidden.burn"}, "names of the hidden copies: %s" % names)
    expect(len(raw) >= 35, "only %d of 40 raw names" % len(raw))
    odd = sorted({f.method for f in recording.frames if f.is_java and "0x" in f.method})
    expect(not odd, "names that differ from run to run: %s" % odd[:5])
    run.note("%d hidden copies under one name" % len(raw))


@test("generated names are the same in two runs", lowest=17, each_jdk=False)
def stable_names(run):
    found = []
    for _ in range(2):
        recording, _ = record_hidden(run, 4)
        found.append({frame.method for frame in recording.frames
                      if frame.is_java and frame.method.startswith("LambdaHidden")})
    # A rarely sampled frame may be in one of the runs alone, its name must still be a plain one.
    both = found[0] & found[1]
    expect(len(both) >= 0.8 * len(found[0] | found[1]), "only in one run: %s" % (found[0] ^ found[1]))


@test("clock, kernel and signal below Java",
      params={"": {"flags": ()}, "interpreted": {"flags": ("-Xint",)},
              "C1 only": {"flags": ("-XX:TieredStopAtLevel=1",)}})
def clock_loop(run, flags):
    jvm = run.java("ClockLoop", 6, flags=flags, wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 997)
    wanted = named("ClockLoop", truth["cpu_ns"])
    samples = main_thread(recording, wanted)
    lost = total(s for s in samples if not any(s.has(name) for name in wanted))
    share = percent(total(samples) - lost, total(samples))
    expect(share >= 98, "a Java frame of the three parts in only %.1f %%" % share)
    run.note("Java frame in %.2f %%" % share)
    run.note(check_shares(samples, wanted, 2.0))
    run.note(check_complete(recording, samples, 99.9))
    vdso = total(s for s in samples if any(f.module == "[vdso]" for f in s.frames))
    expect(vdso > 0, "no frame in [vdso]")


def main_thread(recording, methods):
    """All samples of the thread that ran these methods."""
    tids = {s.thread["tid"] for s in recording.samples() if any(s.has(name) for name in methods)}
    expect(len(tids) == 1, "the methods are on %d threads" % len(tids))
    return list(recording.samples(tid=tids.pop()))


@test("GC barriers", params={
    "G1": {"collector": "G1GC"}, "Parallel": {"collector": "ParallelGC"},
    "ZGC": {"collector": "ZGC"}, "Shenandoah": {"collector": "ShenandoahGC"}})
def gc_barriers(run, collector):
    flags = ("-XX:+Use%s" % collector, "-Xmx256m")
    jvm = run.java("GcBarriers", 5, flags=flags, wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 997)
    wanted = named("GcBarriers", truth["cpu_ns"])
    samples = main_thread(recording, wanted)
    inside = total(s for s in samples if any(s.has(name) for name in wanted))
    share = percent(inside, total(samples))
    expect(share >= 95, "mutate or churn in only %.1f %% of the main thread's samples" % share)
    run.note("%.1f %% inside" % share)
    run.note(check_complete(recording, samples, 99.9))
    gc = list(recording.samples(group="gc"))
    expect(gc, "no samples of GC threads")
    charged = total(s for s in gc if s.java)
    expect(charged == 0, "%d GC samples with a Java frame" % charged)
    run.note("%d samples of GC threads" % total(gc))
