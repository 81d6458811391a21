# SPDX-License-Identifier: Apache-2.0
"""
What a profiler costs its target: CPU time of the whole process per round of the same work.

One JVM per profiler. Its main thread does the same work over and over and says after each round
how much CPU time it has used. The profiler is switched on and off in turns of half a second; a
turn with it and the one without beside it are a pair. A shared machine runs now at one speed and
now at half of it, for a second or for minutes: whole runs one after the other, and even turns of
two seconds, then differ by a fifth with no profiler at all. Attaching, detaching and writing files
lie between the turns. The null pairs switch nothing on.

The figure is the median of the pairs' ratios, with its standard error from their quartiles.

Where another machine shares the cores a round takes 4.5 ms now and 8.5 ms then, and changes about
once a second: half a second is then too long for a pair, and no profiler is attached and detached
faster. What costs the target are the perf events, though, and they can be switched from outside,
ours and those of async-profiler: the fine pairs are of a few rounds each, some hundred pairs of one
recording.
"""
import ctypes
import fcntl
import os
import statistics
import subprocess
import time

import cputime
from harness import Jvm, Run, expect

WARM_UP_S = 12
TURN_S = 0.5
SETTLE_S = 0.1
ROUNDS_MIN = 5  # of a turn
LONGER_MAX = 10  # times TURN_S

# Medians of whole runs on a quiet machine of two cores, JDK 17 and 25: what to compare with where
# async-profiler is not there.
PUBLISHED = {"async-profiler 10 ms": {17: 1.026, 25: 1.020},
             "async-profiler 1 ms": {17: 1.110, 25: 1.124}, "JFR profile": {17: 1.092, 25: 0.968}}


def call(*command):
    subprocess.run([str(word) for word in command], check=True, timeout=120,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Nothing:
    def __init__(self, run, jvm):
        self.run, self.jvm = run, jvm

    def on(self):
        pass

    def off(self):
        pass


class Ours(Nothing):
    hz = 99

    def on(self):
        path = self.run.output()
        self.scope = self.run.scope("-p", self.jvm.pid, "-e", "cpu", "-F", self.hz, "-f", path, "-q")
        self.run.wait_recording(self.scope)

    def process(self):
        """Whose perf events they are."""
        return self.scope.pid

    def off(self):
        self.scope.signal(2)
        expect(self.scope.wait(60) == 0, "jvmscope failed: %s" % self.scope.err)


class Ours997(Ours):
    hz = 997


class Jfr(Nothing):
    def on(self):
        call(self.run.jdk.home / "bin" / "jcmd", self.jvm.pid, "JFR.start", "name=bench",
             "settings=profile")

    def off(self):
        call(self.run.jdk.home / "bin" / "jcmd", self.jvm.pid, "JFR.stop", "name=bench",
             "filename=%s" % self.run.output(".jfr"))


class Async(Nothing):
    interval = "10ms"

    def on(self):
        self.path = self.run.output(".jfr")
        call(os.environ["ASPROF"], "start", "-e", "cpu", "-i", self.interval, "-f", self.path,
             self.jvm.pid)

    def process(self):
        return self.jvm.pid

    def off(self):
        call(os.environ["ASPROF"], "stop", "-f", self.path, self.jvm.pid)


class Async1(Async):
    interval = "1ms"


PROFILERS = {"null": Nothing, "jvmscope 99 Hz": Ours, "jvmscope 997 Hz": Ours997,
             "JFR profile": Jfr, "async-profiler 10 ms": Async, "async-profiler 1 ms": Async1}


class Turn:
    """Rounds of one turn: CPU time of each in the main thread, and of the other threads per round."""

    def __init__(self, jvm):
        time.sleep(SETTLE_S)
        start, cpu = time.monotonic_ns(), cputime.process_cpu_ns(jvm.pid)
        ends = []
        # Beside other work half a second may hold a few rounds only: then the turn is longer.
        for _ in range(LONGER_MAX):
            time.sleep(TURN_S)
            end = time.monotonic_ns()
            used = cputime.process_cpu_ns(jvm.pid) - cpu
            ends = [tuple(map(int, line.split()[1:])) for line in list(jvm.out)
                    if line.startswith("ROUND ")]
            ends = [used_ns for when, used_ns in ends if start <= when <= end]
            if len(ends) >= ROUNDS_MIN:
                break
        expect(len(ends) >= ROUNDS_MIN, "only %d rounds in a turn" % len(ends))
        self.rounds = [after - before for before, after in zip(ends, ends[1:])]
        # The main thread never waits: what it used of the turn is its rounds' share.
        own = sum(self.rounds) * (len(self.rounds) + 1) / len(self.rounds)
        self.others = max(used - own, 0) / (len(self.rounds) + 1)
        self.mean = statistics.mean(self.rounds) + self.others


def median_of(ratios):
    """The median and its standard error, by the distance of the quartiles."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return middle, 1.253 * (high - low) / 1.349 / len(ratios) ** 0.5


def pairs_of(jdk, profiler, classes, count):
    """The turns with and without: two lists, number by number a pair."""
    run = Run(jdk, "overhead")
    try:
        jvm = run.track(Jvm([jdk.java, "-Xmx512m", "-cp", classes, "CpuMixed"])).ready()
        time.sleep(WARM_UP_S)
        this, turns = profiler(run, jvm), {True: [], False: []}
        for number in range(count):
            for state in ((False, True) if number % 2 else (True, False)):
                if state:
                    this.on()
                turns[state].append(Turn(jvm))
                if state:
                    this.off()
        return turns[True], turns[False]
    finally:
        run.close()


# ---- fine pairs

WINDOW_S = 0.04
FINE_S = 30
PIDFD_GETFD = 438
ENABLE, DISABLE = 0x2400, 0x2401  # PERF_EVENT_IOC_*


def events_of(pid):
    """The perf events of a process, as descriptors of our own."""
    libc, pidfd = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid)
    folder = "/proc/%d/fd" % pid
    numbers = [int(name) for name in os.listdir(folder)
               if "perf_event" in os.readlink(os.path.join(folder, name))]
    events = [libc.syscall(PIDFD_GETFD, pidfd, number, 0) for number in numbers]
    os.close(pidfd)
    expect(events and min(events) >= 0, "no events in %s" % folder)
    return events


def windows_of(jvm, events):
    """Mean CPU time of the rounds that lie in a window, for windows off and on in turns."""
    windows, end = [], time.monotonic() + FINE_S
    while time.monotonic() < end:
        for state in (DISABLE, ENABLE):
            for event in events:
                fcntl.ioctl(event, state)
            start = time.monotonic_ns()
            time.sleep(WINDOW_S)
            windows.append((start, time.monotonic_ns()))
    ends = [tuple(map(int, line.split()[1:])) for line in list(jvm.out) if line.startswith("ROUND ")]
    means, at = [], 0
    for start, stop in windows:
        while at < len(ends) and ends[at][0] < start:
            at += 1
        inside = []
        while at < len(ends) and ends[at][0] <= stop:
            inside.append(ends[at][1])
            at += 1
        means.append((inside[-1] - inside[0]) / (len(inside) - 1) if len(inside) > 1 else None)
    return means


def fine_ratios(jdk, classes, profiler):
    run = Run(jdk, "overhead")
    try:
        jvm = run.track(Jvm([jdk.java, "-Xmx512m", "-cp", classes, "CpuMixed"])).ready()
        time.sleep(WARM_UP_S)
        this = profiler(run, jvm)
        this.on()
        events = [] if profiler is Nothing else events_of(this.process())
        means = windows_of(jvm, events)
        for event in events:
            os.close(event)
        this.off()
        # The off window before one or behind it, so that a drift of the machine does not count.
        return [on / off for i, on in enumerate(means) if i % 2
                for off in (means[i - 1] if i % 4 == 1 else (means + [None])[i + 1],) if on and off]
    finally:
        run.close()


FINE = ("null", "jvmscope 99 Hz", "jvmscope 997 Hz", "async-profiler 10 ms", "async-profiler 1 ms")


def bench_fine(jdk, classes, say):
    medians = {}
    for name in FINE:
        if "async" in name and not os.environ.get("ASPROF"):
            continue
        ratios = fine_ratios(jdk, classes, PROFILERS[name])
        medians[name], error = median_of(ratios)
        say("%s: fine pairs, CPU per round with %-21s %.3f +- %.3f of without, median of %d" % (
            jdk, name, medians[name], error, len(ratios)))
    judge("%s: fine pairs" % jdk, jdk, medians, say)


def bench_overhead(jdk, classes, count, say):
    medians = {}
    for name, profiler in PROFILERS.items():
        known = PUBLISHED.get(name, {}).get(jdk.major)
        if "async" in name and not os.environ.get("ASPROF"):
            say("%s: CPU per round with %-21s not run: ASPROF names no program%s" % (
                jdk, name, "; whole runs gave %.3f" % known if known else ""))
            continue
        on, off = pairs_of(jdk, profiler, classes, count)
        ratios = [a.mean / b.mean for a, b in zip(on, off)]
        medians[name], error = median_of(ratios)
        say("%s: CPU per round with %-21s %.3f +- %.3f of without, median of %d pairs "
            "[%.3f..%.3f]" % (jdk, name, medians[name], error, count, min(ratios), max(ratios)))
    judge(jdk, jdk, medians, say)


def judge(what, jdk, ratios, say):
    bar, ours = ratios["null"] + 0.02, ratios["jvmscope 99 Hz"]
    say("%s: goal at 99 Hz: %.3f <= %.3f: %s" % (
        what, ours, bar, "met" if ours <= bar else "missed"))
    bar = ratios.get("async-profiler 1 ms", PUBLISHED["async-profiler 1 ms"].get(jdk.major, 1.110))
    ours = ratios["jvmscope 997 Hz"]
    say("%s: goal at 997 Hz: %.3f < %.3f: %s" % (
        what, ours, bar, "met" if ours < bar else "missed"))
