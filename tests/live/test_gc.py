# SPDX-License-Identifier: Apache-2.0
"""
Collections, safepoints and VM operations beside the JVM's own recorder, which runs on the same JVM
at the same time, and beside its log of collections.
"""
import re

import beside
from harness import expect
from recording import Recording
from suite import test

COLLECTORS = {
    "G1": ["-XX:+UseG1GC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "Serial": ["-XX:+UseSerialGC"],
    "ZGC": ["-XX:+UseZGC"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
}

# What of profile.jfc is changed: nothing is left out because it is short.
ALL_OF = ["GarbageCollection", "GCHeapSummary", "MetaspaceSummary", "GCPhasePause",
          "GCPhasePauseLevel1", "GCPhasePauseLevel2", "GCPhasePauseLevel3", "GCPhasePauseLevel4",
          "GCPhaseConcurrent", "GCPhaseConcurrentLevel1", "GCPhaseConcurrentLevel2",
          "SafepointBegin", "SafepointEnd", "ExecuteVMOperation"]
# An end of the recording or of the program is not the same moment for both.
EDGE_NS = 50_000_000


def record_both(run, flags, seconds):
    """(ours, the JVM's, from, to, the log) of one program."""
    log = run.for_java("gc.log")
    log.unlink(missing_ok=True)
    flags = ["-Xmx192m", "-Xlog:gc,gc+phases:file=%s:uptime" % run.jdk.inside(log), *flags]
    path = run.output()
    pair = beside.record(run, ["GcMix", seconds], flags, ALL_OF, [
        "-f", path, "-e", "cpu,gc,safepoint", "-F", 19])
    theirs = beside.convert(run, pair.theirs)
    return Recording(path), theirs, pair.began, pair.ended, log.read_text(encoding="utf-8")


def within(rows, began, ended):
    return [row for row in rows if row["start_time_ns"] >= began - EDGE_NS and
            row["start_time_ns"] + row["duration_ns"] <= ended + EDGE_NS]


def by_id(rows, name="id"):
    found = {row[name]: row for row in rows if row[name] is not None}
    expect(len(found) == sum(row[name] is not None for row in rows), "an id twice")
    return found


def is_near(got, wanted):
    return abs(got - wanted) <= max(wanted * 0.05, 100_000)


def pair_up(ours, theirs, began, ended):
    """[(ours, theirs)] of what both saw: all that is within the window of one is there in the other."""
    mine, wanted = by_id(ours), by_id(theirs)
    for row in within(wanted.values(), began, ended):
        expect(row["id"] in mine, "not seen: %s" % row)
    for row in within(mine.values(), began, ended):
        expect(row["id"] in wanted, "only seen by us: %s" % row)
    return [(mine[number], wanted[number]) for number in sorted(mine) if number in wanted]


def phases_of(recording):
    """{id of a collection: its phases}"""
    collections = recording.raw["gc"]["collections"]
    found = {}
    for phase in recording.raw["gc"]["phases"]:
        if phase["collection"] is not None:
            found.setdefault(collections[phase["collection"]]["id"], []).append(phase)
    for phases in found.values():
        phases.sort(key=lambda phase: (phase["concurrent"], phase["level"], phase["start_time_ns"],
                                       phase["name"]))
    return found


def compare_phases(ours, theirs, number, has_workers):
    """
    The greatest difference of a pause, ns. Workers of Shenandoah write phases of their own beside
    those that the tracer knows.
    """
    worst, left = 0, list(theirs)
    for got in ours:
        wanted = next((phase for phase in left if all(
            phase[key] == got[key] for key in ("name", "level", "concurrent"))), None)
        expect(wanted, "GC %d: only seen by us: %s" % (number, got))
        left.remove(wanted)
        expect(is_near(got["duration_ns"], wanted["duration_ns"]),
               "GC %d: %s, not %s" % (number, got, wanted))
        if not got["concurrent"] and not got["level"]:
            worst = max(worst, abs(got["duration_ns"] - wanted["duration_ns"]))
    expect(all(has_workers and phase["concurrent"] for phase in left),
           "GC %d: not seen: %s" % (number, left))
    return worst


def compare_collections(ours, theirs, began, ended):
    pairs = pair_up(ours.raw["gc"]["collections"], theirs.raw["gc"]["collections"], began, ended)
    mine, wanted = phases_of(ours), phases_of(theirs)
    phases = worst = 0
    has_workers = ours.jvms[0]["gc_name"] == "Shenandoah"
    for got, other in pairs:
        for key in ("name", "cause", "sizes"):
            expect(got[key] == other[key], "GC %d: %s: %s\nnot %s" % (
                got["id"], key, got[key], other[key]))
        for key in ("duration_ns", "sum_of_pauses_ns", "longest_pause_ns"):
            expect(is_near(got[key], other[key]), "GC %d: %s: %d, not %d" % (
                got["id"], key, got[key], other[key]))
        part = mine.get(got["id"], [])
        phases += len(part)
        worst = max(worst, compare_phases(part, wanted.get(got["id"], []), got["id"], has_workers))
    expect(len(pairs) >= 3, "%d collections" % len(pairs))
    names = sorted({got["name"] for got, _ in pairs})
    return "%d collections (%s), %d phases, pauses within %.1f us" % (
        len(pairs), ", ".join(names), phases, worst / 1e3)


# Of times that ours and the JVM take one after the other: a thread may lose its CPU in between.
MOST = 0.9


def compare_safepoints(ours, theirs, began, ended):
    """JDK 11 keeps the name of an operation in memory at its place, where it is not read."""
    near = 0
    is_named = ours.jvms[0]["jvm_major"] > 11
    pairs = pair_up(ours.raw["gc"]["safepoints"]["events"],
                    theirs.raw["gc"]["safepoints"]["events"], began, ended)
    for got, other in pairs:
        for key in ("operation", "java_threads", "jni_critical_threads") if is_named else ():
            expect(got[key] == other[key], "%s: %s, not %s" % (key, got, other))
        # Theirs has what the VM itself does before it goes on.
        near += is_near(got["duration_ns"], other["duration_ns"]) and (
            got["reach_ns"] < other["reach_ns"] or is_near(got["reach_ns"], other["reach_ns"]))
    expect(near >= MOST * len(pairs), "times of %d safepoints of %d are near" % (near, len(pairs)))
    operations = [[is_named and row["name"]
                   for row in within(recording.raw["gc"]["vm_operations"], began, ended)]
                  for recording in (ours, theirs)]
    for name in set(operations[0] + operations[1]):
        counts = [names.count(name) for names in operations]
        expect(counts[0] == counts[1], "%d operations %s, not %d" % (counts[0], name, counts[1]))
    expect(len(pairs) >= 3 and operations[0], "%d safepoints" % len(pairs))
    return "%d safepoints, %d VM operations" % (len(pairs), len(operations[0]))


def compare_log(ours, began, ended, log):
    """
    The JVM's log as a judge of pauses that needs no recorder. What it times lies within the pause
    or begins right before it, and a thread may have to wait for a CPU between both ends: the log
    has as many pauses, most of them no longer, and as much in all.
    """
    logged = {}
    for number, time_ms in re.findall(r"GC\((\d+)\) (?:[YyO]: )?Pause .*?([\d.]+)ms$", log,
                                      re.MULTILINE):
        logged.setdefault(int(number), []).append(float(time_ms) * 1e6)
    mine = phases_of(ours)
    count = near = sum_ns = logged_ns = 0
    for row in within(by_id(ours.raw["gc"]["collections"]).values(), began, ended):
        stopped = [phase for phase in mine.get(row["id"], []) if not phase["concurrent"]]
        # They are parts of a concurrent phase on JDK 28.
        outermost = min((phase["level"] for phase in stopped), default=0)
        pauses = [phase["duration_ns"] for phase in stopped if phase["level"] == outermost]
        wanted = logged.get(row["id"], [])
        expect(len(pauses) == len(wanted), "GC %d: pauses %s, the log has %s" % (
            row["id"], pauses, wanted))
        near += sum(most <= got or is_near(got, most) for got, most in zip(pauses, wanted))
        count += len(pauses)
        sum_ns, logged_ns = sum_ns + sum(pauses), logged_ns + sum(wanted)
    expect(near >= MOST * count, "%d pauses of %d are as long as in the log" % (near, count))
    expect(is_near(sum_ns, logged_ns), "pauses of %d ns, the log has %d" % (sum_ns, logged_ns))
    return "%d pauses as in the log" % count


@test("gc", quick=["G1"], limit=240, jdks=list(COLLECTORS),
      params={label: {"flags": flags} for label, flags in COLLECTORS.items()})
def collections(run, flags):
    ours, theirs, began, ended, log = record_both(run, flags, 4)
    run.note(compare_collections(ours, theirs, began, ended))
    run.note(compare_safepoints(ours, theirs, began, ended))
    run.note(compare_log(ours, began, ended, log))
