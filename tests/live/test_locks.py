# SPDX-License-Identifier: Apache-2.0
"""Threads that wait: for monitors, in Object.wait(), in LockSupport.park()."""
import collections
import itertools

from harness import expect
from recording import total
from suite import test
from test_convert import expect_totals
from test_jfr import print_events, tools

# Metric: (class of what is waited for, method that waits).
KINDS = {
    "lock_wait": ("Waits$Guard", "Waits.enter"),
    "object_wait": ("Waits$Signal", "Waits.await"),
    "park": ("Waits$Blocker", "Waits.park"),
}


def check_kind(recording, metric, truth):
    label, method = KINDS[metric]
    count, value = truth
    samples = [s for s in recording.samples(metric) if s.has(method)]
    expect(count >= 20, "%s: the program waited %d times only" % (metric, count))
    seen = total(samples)
    labels = {s.label for s in samples}
    # Who blocks a thread that has just started is not known yet.
    expect(labels <= {label, None} and total(s for s in samples if s.label) >= 0.97 * seen,
           "%s: for %s, not for %s" % (metric, labels, label))
    # The last waits may end after the recording; some take a little longer than the program sees.
    expect(0.98 * count <= seen <= count + 2, "%s: %d waits, %d in truth" % (metric, seen, count))
    seen_ns = sum(s.value for s in samples)
    expect(0.97 * value <= seen_ns <= 1.03 * value,
           "%s: %.1f ms, %.1f in truth" % (metric, seen_ns / 1e6, value / 1e6))
    expect(all(s.is_complete for s in samples), "%s: stacks are not complete" % metric)
    return "%s %d of %d, %.1f %% of the time" % (metric, seen, count, 100 * seen_ns / value)


def check_short(recording, parks):
    """Each is counted once, however often the sums are looked at."""
    named = [s for s in recording.samples("park") if s.label == "Waits$Brief"]
    short = [s for s in named if s.has("[shorter than 10 ms]")]
    # As above, who has just started; and not all of them are short.
    other = [s for s in recording.samples("park") if s.label is None and
             (s.has("[shorter than 10 ms]") or s.has("Waits.parkShortly"))]
    expect(total(named) + total(other) == parks and total(other) <= 0.03 * parks,
           "%d and %d short parks, %d in truth" % (total(named), total(other), parks))
    expect(len(short) == 1 and len(short[0].frames) == 1, "short parks are %d rows" % len(short))
    return "%d short parks" % parks


def check_losses(recording):
    for name, count in recording.raw["gc"]["counts"][0].items():
        lost = name.endswith(("_ring_full", "_unreadable", "_no_thread_state", "_sums_full",
                              "_unseen_returns", "_unreadable_yet"))
        expect(not lost or not count, "%s: %d" % (name, count))


FLAGS = {
    "G1": ["-XX:+UseG1GC"],
    "Serial": ["-XX:+UseSerialGC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "ZGC": ["-XX:+UseZGC"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
    "interpreter": ["-Xint"],
    "wide references": ["-XX:-UseCompressedOops"],
    "wide classes": ["-XX:-UseCompressedClassPointers"],
    "compact headers": ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"],
}


@test("waits for locks", params={
    name: {"flags": flags} for name, flags in FLAGS.items()}, jdks=["G1"])
def locks(run, flags):
    jvm = run.java("Waits", 5, flags=flags, wait=True, hold=1)
    recording, truth = run.record_all(jvm, "-e", "lock")
    for metric in KINDS:
        run.note(check_kind(recording, metric, truth[metric]))
    run.note(check_short(recording, truth["short"]))
    check_losses(recording)


def check_who(tool, path):
    """Monitors are handed on among those that want them; who notifies has a name."""
    seen = collections.Counter()
    for name, fields, methods in print_events(tool, path, EVENTS["lock_wait"],
                                              EVENTS["object_wait"]):
        by = fields.get("previousOwner") or fields.get("notifier") or {"javaName": None}
        waits, by = fields["eventThread"]["javaName"], by["javaName"]
        if "Waits.enter" in methods:
            expect(by in ENTER and by != waits, "%s: %s has the monitor from %s" % (
                tool.jdk, waits, by))
        elif "Waits.await" in methods:
            expect(by is None, "%s: nobody notifies %s, %s does" % (tool.jdk, waits, by))
        elif "Waits.beNotified" in methods:
            # As long as there are notifiers, it is not over by itself.
            expect(by in NOTIFIERS or fields["timedOut"], "%s: %s is notified by %s" % (
                tool.jdk, waits, by))
        else:
            continue
        seen[name, by] += 1
    for name, by in itertools.chain(itertools.product([EVENTS["lock_wait"]], ENTER),
                                    itertools.product([EVENTS["object_wait"]], NOTIFIERS)):
        expect(seen[name, by] >= 10, "%s: %s by %s: %d only" % (tool.jdk, name, by, seen[name, by]))


ENTER = ("enter-1", "enter-2", "enter-3")
NOTIFIERS = ("notifier-1", "notifier-2")
EVENTS = {"lock_wait": "jdk.JavaMonitorEnter", "object_wait": "jdk.JavaMonitorWait",
          "park": "jdk.ThreadPark"}
VIEWS = {"contention-by-class": "Waits$Guard", "contention-by-site": "Waits.enter()",
         "contention-by-thread": "enter-1", "latencies-by-type": "Java Monitor Blocked"}


def long_waits(recording, metric):
    return total(s for s in recording.samples(metric)
                 if s.frames and not s.frames[0].method.startswith("[shorter"))


@test("waits for locks in JFR", quick=[""])
def locks_in_jfr(run):
    jvm = run.java("Waits", 4, wait=True, hold=1)
    path = run.output(".jfr")
    recording, truth = run.record_all(jvm, "-e", "lock,cpu", "-f", path, "--chunk", "1s")
    run.note(check_short(recording, truth["short"]))
    for tool in tools():
        counts, _ = tool.summary(path)
        for metric, event in EVENTS.items():
            expect(counts.get(event) == long_waits(recording, metric), "%s: %s %s, not %d" % (
                tool.jdk, event, counts.get(event), long_waits(recording, metric)))
        check_who(tool, path)
        expect(tool.samples(path) == total(recording.samples()), "%s: samples of a CPU" % tool.jdk)
        if tool.jdk.major < 21:
            continue
        for view, word in VIEWS.items():
            text = tool.run("view", "--width", "200", view, path)
            expect(word in text, "%s of %s: %s" % (view, tool.jdk, text))
    expect_totals(run, recording, path, list(EVENTS))
