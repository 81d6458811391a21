# SPDX-License-Identifier: Apache-2.0
"""Allocation in the Java heap: by class, site and thread, beside the JVM's own recording."""
import re
import subprocess

from harness import expect, percent
from recording import Recording
from suite import test

COLLECTORS = {
    "G1": ["-XX:+UseG1GC"],
    "Serial": ["-XX:+UseSerialGC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "ZGC": ["-XX:+UseZGC"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
}
LARGE_BYTES = 2 * (3 << 20)
INSIDE = ("HeapWork$A", "HeapWork$B", "double[]", "HeapWork$A[]")


def by_class(recording):
    return {row["class"]: row for row in recording.raw["heap"]["by_class"]}


def percent_off(seen, truth):
    return 100 * (seen - truth) / truth


def check_sums(recording):
    """What has a stack and what has none add up to the sums by class."""
    sums = {}
    for sample in recording.samples("heap_alloc"):
        sums[sample.label] = sums.get(sample.label, 0) + sample.value
    rows = {name: row["bytes"] for name, row in by_class(recording).items() if row["bytes"]}
    expect({name: value for name, value in sums.items() if value} == rows,
           "totals %s, classes %s" % (sums, rows))


def check_threads(recording, truth):
    """The JVM's own sum of each thread; its last buffer is not seen."""
    worst = 0
    for name, value in truth["thread_bytes"].items():
        seen = sum(s.value for s in recording.samples("heap_alloc", name=name))
        off = percent_off(seen, value)
        expect(abs(off) <= 2, "thread %s: %d bytes, %d in truth" % (name, seen, value))
        worst = max(worst, abs(off))
    return "threads within %.2f %%" % worst


def check_large(recording, truth, each_outside):
    """
    Each object outside of buffers, to the byte; the header of an array has 12 to 20 bytes.

    Serial's and Parallel's buffers grow until such an object fits one.
    """
    row, count = by_class(recording)["short[]"], truth["objects"]["short[]"]
    outside = row["outside_objects"]
    each = row["outside_bytes"] / max(outside, 1)
    expect(0.9 * count <= outside <= count and (outside == count or not each_outside)
           and LARGE_BYTES + 12 <= each <= LARGE_BYTES + 24 and each % 1 == 0,
           "large arrays: %d of %d, %.1f bytes each" % (outside, count, each))


def check_shares(recording):
    """A to B is 3 to 1, and each is made by one method."""
    sums = {}
    for sample in recording.samples("heap_alloc"):
        if sample.label in ("HeapWork$A", "HeapWork$B") and sample.frames:
            site = sample.java[0].method
            sums[(sample.label, site)] = sums.get((sample.label, site), 0) + sample.value
    whole = sum(sums.values())
    share = 100 * sums.get(("HeapWork$A", "HeapWork$Work.makeA"), 0) / whole
    other = 100 * sums.get(("HeapWork$B", "HeapWork$Work.makeB"), 0) / whole
    # The innermost Java frame of what is inlined is that of the method all the same.
    expect(abs(share - 75) <= 3 and abs(other - 25) <= 3, "A %.1f %%, B %.1f %%: %s" % (
        share, other, sums))
    return "A %.1f %% of 75" % share


@test("heap allocation", params={
    name: {"flags": flags} for name, flags in COLLECTORS.items()}, jdks=["G1"])
def heap(run, flags):
    jvm = run.java("HeapWork", 5, flags=flags, wait=True, hold=1)
    recording, truth = run.record_all(jvm, "-e", "alloc", "--max-overhead", "none")
    check_sums(recording)
    check_large(recording, truth, not {"-XX:+UseSerialGC", "-XX:+UseParallelGC"} & set(flags))
    broken = [s for s in recording.samples("heap_alloc", name="work-1") if not s.is_complete]
    expect(not broken, "stacks are not complete: %s" % broken[:1])
    run.note("%s, %s" % (check_shares(recording), check_threads(recording, truth)))


def converted(run, path):
    to = run.output()
    scope = run.scope("convert", path, "-o", to)
    expect(scope.wait(60) == 0, " | ".join(scope.err))
    return Recording(to)


def label_sums(recording):
    sums = {}
    for sample in recording.samples("heap_alloc"):
        sums[sample.label] = sums.get(sample.label, 0) + sample.value
    return sums


def check_own_file(run, file, own):
    """The JVM's own recording as we read it: TLABs for their size, objects outside for theirs."""
    sums = label_sums(converted(run, file))
    wanted = {name: values[1] + values[3] for name, values in own.items()}
    found = {name: sums.get(name, 0) for name in wanted}
    expect(found == wanted, "the JVM's own file is read as %s, and has %s" % (found, wanted))


def check_class(row, own, name):
    """One class in both recordings: buffers and their bytes, objects outside and theirs."""
    tlabs, tlab_bytes, outside, outside_bytes = own
    seen = row["tlab_bytes"] + row["outside_bytes"]
    off = percent_off(seen, tlab_bytes + outside_bytes)
    expect(abs(off) <= 2, "%s: %d TLABs of %d bytes, %d outside of %d; the JVM's own recording has "
           "%s" % (name, row["tlabs"], row["tlab_bytes"], row["outside_objects"],
                   row["outside_bytes"], own))
    return abs(off)


@test("heap allocation beside JFR", quick=["G1"], params={
    name: {"flags": flags} for name, flags in COLLECTORS.items()}, modes=("full", "jdks"))
def beside_jfr(run, flags):
    file = run.for_java("heap-%s-%s.jfr" % (run.jdk.major, flags[0][-5:]))
    jvm = run.java("HeapWork", 5, run.jdk.inside(file), flags=flags, wait=True, hold=1)
    recording, truth = run.record_all(jvm, "-e", "alloc", "--max-overhead", "none")
    rows = by_class(recording)
    missing = [name for name in truth["objects"] if name not in truth["jfr"]]
    expect(not missing, "the JVM's own recording has no %s" % missing)
    worst = max(check_class(rows[name], own, name) for name, own in truth["jfr"].items())
    check_sums(recording)
    check_own_file(run, file, truth["jfr"])
    file.unlink()
    run.note("%d TLABs, classes within %.2f %% of JFR" % (
        sum(rows[name]["tlabs"] for name in INSIDE), worst))


@test("heap allocation over the budget")
def over_budget(run):
    """
    Fewer stacks are taken, and it is said; sums by class and thread stay what they are, but for
    what a thread allocates behind the last slice of time, which are about a second apart here.
    """
    jvm = run.java("HeapWork", 14, wait=True, hold=1)
    recording, truth = run.record_all(jvm, "-e", "alloc", "--max-overhead", "0.3")
    budget = [row for row in recording.raw["budget"]["jvms"] if row["group"] == "alloc"][0]
    changes = [event for event in recording.raw["budget"]["events"] if event["group"] == "alloc"]
    expect(budget["state"] != "exact" and changes and changes[0]["from"] == "exact",
           "the budget was kept: %s, %s" % (budget, changes))
    expect(budget["total_cost_pct"] < 0.7, "probes cost %.2f %%" % budget["total_cost_pct"])
    check_sums(recording)
    rows = by_class(recording)
    all_bytes = sum(row["bytes"] for row in rows.values())
    truth_bytes = sum(truth["thread_bytes"].values())
    expect(-12 <= percent_off(all_bytes, truth_bytes) <= 1,
           "%d bytes, %d in truth" % (all_bytes, truth_bytes))
    told = sum(s.value for s in recording.samples("heap_alloc") if s.frames)
    run.note("%s at %.2f %%, %.1f %% of %d bytes with a stack, %.1f %% off the truth" % (
        budget["state"], budget["total_cost_pct"], 100 * told / all_bytes, all_bytes,
        percent_off(all_bytes, truth_bytes)))


# View of jfr and words that are in it, in order.
VIEWS = {
    "allocation-by-class": r"HeapWork\$A +\d.*HeapWork\$B ",
    "allocation-by-site": r"HeapWork\$Work\.makeA.*HeapWork\$Work\.makeB",
    "allocation-by-thread": r"work-[12] .*work-[12] ",
    "tlabs": r"Inside TLAB Count: [\d,]+.*Outside TLAB Count: [\d,]+",
}


def views(run, path):
    """What jfr view of JDK 25 says; nothing when the JDK has no such tool."""
    for name, pattern in VIEWS.items() if run.jdk.major >= 21 else ():
        done = subprocess.run([run.jdk.home / "bin" / "jfr", "view", name, path],
                              capture_output=True, text=True, check=True, timeout=60)
        expect(re.search(pattern, done.stdout, re.DOTALL), "jfr view %s: %s" % (name, done.stdout))


@test("heap allocation in JFR")
def in_jfr(run):
    """A JVM that records nothing itself: its file has what the JSON has, and fills the views."""
    jvm = run.java("HeapWork", 4, wait=True, hold=1)
    path = run.output(".jfr")
    recording, _ = run.record_all(jvm, "-e", "alloc", "--max-overhead", "none", "-f", path)
    read = converted(run, path)
    expect(label_sums(read) == label_sums(recording), "JFR has %s, JSON %s" % (
        label_sums(read), label_sums(recording)))
    expect(sorted(map(str, read.raw["heap"]["by_class"])) ==
           sorted(map(str, recording.raw["heap"]["by_class"])), "classes differ")
    views(run, path)
    told = sum(s.value for s in recording.samples("heap_alloc") if s.frames)
    run.note("%.2f %% with a stack" % percent(told, sum(label_sums(recording).values())))


@test("heap allocation of short threads", quick=True, jdks=[""])
def short_threads(run):
    """A thread that ends has what is in its only buffer, with the stack that began it."""
    jvm = run.java("HeapThreads", 800, wait=True, hold=1)
    recording, truth = run.record_all(jvm, "-e", "alloc", "--max-overhead", "none")
    check_sums(recording)
    samples = [s for s in recording.samples("heap_alloc") if s.has("HeapThreads.work")]
    seen = sum(s.value for s in samples)
    off = percent_off(seen, truth["bytes"])
    expect(abs(off) <= 5, "%d bytes, %d in truth" % (seen, truth["bytes"]))
    run.note("%.1f %% off the truth of %d bytes" % (off, truth["bytes"]))
