# SPDX-License-Identifier: Apache-2.0
"""Threads: virtual ones, five hundred, and those below native code without frame pointers."""
import jdks
from harness import Failure, check_complete, check_shares, expect, named, percent
from recording import total
from suite import test


@test("virtual threads", lowest=21, quick=True)
def virtual_threads(run):
    jvm = run.java("VirtualThreads", 5, 64, 40, wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 997)
    samples = [s for s in recording.samples() if s.has("VirtualThreads.burn")]
    expect(total(samples) > 1000, "only %d samples in burn()" % total(samples))
    complete = cut = 0
    other = []
    for sample in samples:
        steps = sum(1 for frame in sample.frames if frame.method == "VirtualThreads.step")
        if sample.is_complete and steps == truth["depth"] and sample.has("VirtualThreads.task"):
            complete += sample.count
        elif sample.state == "truncated" and steps < truth["depth"]:
            cut += sample.count
        else:
            other.append(sample)
    bad = total(other)
    share = percent(bad, total(samples) + recording.lost)
    expect(share <= 0.1, "%d stacks neither whole nor marked\n%s" % (
        bad, other[0].text(60) if other else ""))
    counted = recording.quality["truncated_by"].get("continuation", 0)
    expect(counted >= cut, "%d marked at the continuation, %d counted" % (cut, counted))
    run.note("%d whole to the carrier, %d marked at the continuation, %d other" % (
        complete, cut, bad))
    carriers = total(s for s in recording.samples() if s.has("VirtualThreads.burn")
                     and s.thread["group"] == "java")
    expect(carriers == total(samples), "burn() on threads that are no Java threads")


@test("JNI without frame pointers", quick=["without unwind tables"],
      params={"with unwind tables": {"library": "frames"},
              "without unwind tables": {"library": "bare"}})
def jni(run, library):
    path = jdks.LIVE / "natives" / ("lib%s.so" % library)
    jvm = run.java("JniFrames", 5, flags=("-Dlibrary=%s" % path,), wait=True, hold=20)
    recording, truth = run.record_all(jvm, "-F", 997)
    samples = list(recording.samples(name="jni"))
    run.note(check_shares(samples, named("JniFrames", truth["cpu_ns"])))
    run.note(check_complete(recording, samples))
    for kind in truth["cpu_ns"]:
        for sample in samples:
            if sample.has("JniFrames." + kind) and sample.is_complete:
                lost = [m for m in ("level3", "level2", "level1", "run")
                        if not sample.has("JniFrames." + m)]
                if lost:
                    raise Failure("%s below %s is gone:\n%s" % (lost, kind, sample.text()))
    expect(any(s.has("JniFrames.burn") for s in samples), "burn(), called from native code, is gone")
    anchored = recording.quality.get("info", {}).get("anchored", 0)
    run.note("%d anchored" % anchored)


@test("500 threads", params={"short": {"seconds": 6}, "long": {"seconds": 60}},
      limit=240)
def many_threads(run, seconds):
    count = 500
    jvm = run.java("ManyThreads", seconds, count, flags=("-Xss512k",), wait=True, hold=30)
    recording, truth = run.record_all(jvm, "-e", "cpu", "-F", 997, seconds=seconds + 90)
    busy = truth["threads"]
    expect(busy >= count / 2, "only %d threads had turns enough" % busy)
    samples = [s for s in recording.samples() if s.has("ManyThreads.work")]
    seen = {s.thread["tid"] for s in samples}
    expect(len(seen) >= 0.97 * busy, "only %d of %d threads" % (len(seen), busy))
    names = {s.thread["name"] for s in samples}
    odd = [name for name in names if not name.startswith("many-")]
    # A thread has its creator's name for the first moment of its life.
    expect(len(odd) <= 0.02 * count, "threads named %s" % odd[:5])
    run.note("%d threads" % len(seen))
    run.note(check_complete(recording, samples))
    expect(recording.quality["own_rss_bytes"] <= 64 << 20, "RSS %d MiB" % (
        recording.quality["own_rss_bytes"] >> 20))
    expect(recording.quality["own_map_bytes"] <= 32 << 20, "maps %d MiB" % (
        recording.quality["own_map_bytes"] >> 20))


@test("CPU time of threads that end", each_jdk=False, params={
    "1200 ms": {"life_ms": 1200}, "100 ms": {"life_ms": 100}})
def short_threads(run, life_ms):
    jvm = run.java("ShortThreads", 8, life_ms, wait=True, hold=10)
    recording, truth = run.record_all(jvm, "-F", 997)
    used = recording.quality["target_cpu_ns"]
    told = sum(thread["cpu_ns"] for thread in recording.threads)
    share = percent(told, used)
    # What a thread used after the last look at it is known by its samples only.
    expect(90 <= share <= 105, "threads used %.1f %% of the CPU time" % share)
    mine = [thread for thread in recording.threads if thread["name"].startswith("short-")]
    expect(len(mine) >= 0.95 * truth["threads"], "%d of %d threads" % (len(mine), truth["threads"]))
    run.note("%.1f %% of %.1f s, %d threads" % (share, used / 1e9, len(mine)))


@test("samples of threads that have ended", each_jdk=False)
def ended_threads(run):
    """Half of a thread that does nothing is its end, where it has no user registers any more."""
    jvm = run.java("ShortThreads", 4, 0, wait=True, hold=10)
    recording, _ = run.record_all(jvm, "-F", 4999)
    quality = recording.quality
    exiting = quality["truncated_by"].get("exiting", 0)
    expect(exiting >= 20, "only %d samples of threads that have ended" % exiting)
    expect(not quality["broken_by"].get("no_registers"), "broken: %s" % quality["broken_by"])
    bare = total(s for s in recording.samples()
                 if s.frames and all(frame.kind == "kernel" for frame in s.frames))
    expect(bare == exiting, "%d of them are kernel frames alone" % bare)
    run.note("%d of %d samples" % (exiting, quality["samples"]))


NAMES = {
    "short",
    "a name that is longer than fifteen bytes",
    "größer als fünfzehn Zeichen",
    "漢字の名前 ☃ 😀 end",
    "control�characters�are replaced",
    "renamed while it runs",
}


def kernel_name(name):
    """Its first 15 bytes, which may end within a character; what is no text is replaced."""
    cut = name.replace("\ufffd", "\x01").encode()[:15].decode(errors="replace")
    return cut.replace("\x01", "\ufffd")


@test("Java names of threads", quick=["G1"], lowest=17, params={
    "G1": {"flags": ["-XX:+UseG1GC"]},
    "Serial": {"flags": ["-XX:+UseSerialGC"]},
    "Parallel": {"flags": ["-XX:+UseParallelGC"]},
    "ZGC": {"flags": ["-XX:+UseZGC"], "moving": True},
    "Shenandoah": {"flags": ["-XX:+UseShenandoahGC"], "moving": True},
    "wide references": {"flags": ["-XX:-UseCompressedOops"]},
    "wide classes": {"flags": ["-XX:-UseCompressedClassPointers"]},
    "shifted base": {"flags": ["-XX:HeapBaseMinAddress=40g"]},
    "compact headers": {"flags": ["-XX:+UnlockExperimentalVMOptions",
                                  "-XX:+UseCompactObjectHeaders"]}})
def java_names(run, flags, moving=False):
    jvm = run.java("NamedThreads", 5, flags=flags)
    recording = run.record(jvm.pid, 2, "-F", 499)
    found = {thread["name"] for thread in recording.threads if thread["group"] == "java"}
    cut = {name: kernel_name(name) for name in NAMES} if moving else {}
    # It cannot be told from a name that is not up to date: the kernel's is taken.
    cut["renamed while it runs"] = "a first name, w" if moving else None
    wanted = {name if name in found else cut.get(name) or name for name in NAMES}
    expect(wanted <= found, "no thread is called %s; there are %s" % (wanted - found, found))
    for name in wanted:
        expect(total(recording.samples(name=name)) > 20, "few samples on %s" % name)
    run.note("%d of %d by their Java names" % (len(wanted & NAMES), len(NAMES)))
