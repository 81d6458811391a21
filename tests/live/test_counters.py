# SPDX-License-Identifier: Apache-2.0
"""What is counted each second and what a JVM runs with, beside the JVM's own recording."""
import re
import subprocess
import time
from datetime import datetime
from json import loads
from pathlib import Path

from harness import Skip, expect
from suite import test
from test_jfr import Tool, tools

MIB = 1 << 20
COLLECTORS = {name: {"gc": "-XX:+Use%sGC" % name}
              for name in ("G1", "Serial", "Parallel", "Z", "Shenandoah")}
CONFIGURATIONS = ("jdk.GCConfiguration", "jdk.GCHeapConfiguration", "jdk.GCTLABConfiguration",
                  "jdk.GCSurvivorConfiguration", "jdk.YoungGenerationConfiguration",
                  "jdk.CompilerConfiguration", "jdk.CodeCacheConfiguration")
FLAGS = tuple("jdk.%sFlag" % kind for kind in
              ("Boolean", "Int", "UnsignedInt", "Long", "UnsignedLong", "Double", "String"))


def jcmd(run, pid, *arguments):
    path = run.jdk.home / "bin" / "jcmd"
    if not path.exists():
        raise Skip("no jcmd")
    done = subprocess.run([path, str(pid), *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    expect(done.returncode == 0, "jcmd %s: %s%s" % (arguments[0], done.stdout, done.stderr))
    return done.stdout


def events_of(run, path, *names):
    """{name: [(seconds, fields)]}, in order of time."""
    text = Tool(run.jdk).run("print", "--json", "--events", ",".join(names), path)
    found = {name: [] for name in names}
    for event in loads(text)["recording"]["events"]:
        values = dict(event["values"])
        at = re.sub(r"(\.\d{6})\d*", r"\1", values.pop("startTime"))
        found[event["type"]].append((datetime.fromisoformat(at).timestamp(), values))
    for rows in found.values():
        rows.sort(key=lambda row: row[0])
    return found


def both(run, jvm, seconds, *names):
    """The same time as the JVM records it, and as we do: (theirs, ours, our JSON)."""
    theirs, ours, json = (run.for_java("own-%d.jfr" % jvm.pid), run.output(".jfr"), run.output())
    jcmd(run, jvm.pid, "JFR.start", "name=own", "settings=profile")
    scope = run.scope("-p", jvm.pid, "-d", seconds, "-e", "cpu,counter", "--no-progress",
                      "-f", ours, "-f", json)
    recording = run.finish(scope, json, seconds + 30)
    jcmd(run, jvm.pid, "JFR.dump", "name=own", "filename=%s" % theirs)
    try:
        return events_of(run, theirs, *names), events_of(run, ours, *names), recording
    finally:
        theirs.unlink(missing_ok=True)


def pairs(theirs, ours, reach=0.6):
    """(their fields, ours) of events that are near enough in time: both come each second."""
    found = []
    for at, fields in theirs:
        near = min(ours, key=lambda row: abs(row[0] - at), default=None)
        if near and abs(near[0] - at) <= reach:
            found.append((fields, near[1]))
    return found


def mean(rows, field):
    values = [row[field] for row in rows if row[field] is not None]
    return sum(values) / len(values)


@test("counters of the JVM's own recording", lowest=17)
def converted(run):
    """What convert makes of a file of the JVM."""
    jvm = run.java("Idle", flags=("-XX:+UsePerfData",))
    path, json = run.for_java("own-%d.jfr" % jvm.pid), run.output()
    jcmd(run, jvm.pid, "JFR.start", "name=own", "settings=profile")
    time.sleep(4)
    jcmd(run, jvm.pid, "JFR.dump", "name=own", "filename=%s" % path)
    try:
        names = ("jdk.JavaThreadStatistics", "jdk.ClassLoadingStatistics", "jdk.PhysicalMemory")
        events = {name: rows[-1][1] for name, rows in events_of(run, path, *names).items()}
        raw = run.finish(run.scope("convert", path, "-o", json), json).raw
    finally:
        path.unlink(missing_ok=True)
    last = {name: [value for value in values if value is not None][-1]
            for name, values in raw["timeline"]["series"].items()}
    for series, name, field in (
            ("threads_live", names[0], "activeCount"), ("threads_peak", names[0], "peakCount"),
            ("classes_loaded_total", names[1], "loadedClassCount"),
            ("machine_memory_bytes", names[2], "totalSize")):
        expect(last[series] == events[name][field], "%s: %s, not %s" % (
            series, last[series], events[name]))
    flags = [row for row in raw["settings"] if row["kind"] == "flag"]
    expect(len(flags) > 300, "%d flags" % len(flags))
    expect(any(row["name"] == "MaxHeapSize" and row["value"] == str(512 * MIB) and
               row["origin"] == "Command line" for row in flags), "MaxHeapSize is not there")


@test("counters beside the JVM's own", quick=["G1"], lowest=17, params=COLLECTORS)
def beside(run, gc):
    """Threads and classes are equal, within what starts and ends in half a second."""
    names = ["jdk.JavaThreadStatistics", "jdk.ClassLoadingStatistics", "jdk.CPULoad"]
    names += ["jdk.ResidentSetSize"] if run.jdk.major >= 21 else []
    jvm = run.java("BusyThreads", 40, 1, flags=("-XX:+UnlockExperimentalVMOptions", gc,
                                                "-XX:+UsePerfData"))
    theirs, ours, recording = both(run, jvm, 9, *names)
    threads = pairs(theirs[names[0]], ours[names[0]])
    expect(len(threads) >= 4, "%d pairs of threads" % len(threads))
    same = sum(their["activeCount"] == our["activeCount"] for their, our in threads)
    for their, our in threads:
        for field in their:
            expect(abs(their[field] - our[field]) <= 2, "%s: %s, ours %s" % (field, their, our))
    expect(same >= len(threads) - 1, "threads differ: %s" % threads)
    classes = pairs(theirs[names[1]], ours[names[1]])
    expect(len(classes) >= 4, "%d pairs of classes" % len(classes))
    for their, our in classes:
        for field in their:
            expect(abs(their[field] - our[field]) <= 0.05 * their[field] + 5,
                   "%s: %s, ours %s" % (field, their, our))
    compare_loads(theirs["jdk.CPULoad"], ours["jdk.CPULoad"])
    if run.jdk.major >= 21:
        for their, our in pairs(theirs["jdk.ResidentSetSize"], ours["jdk.ResidentSetSize"]):
            expect(abs(their["size"] - our["size"]) <= 0.05 * their["size"],
                   "Rss: %s, ours %s" % (their, our))
    compare_heap(jvm, run, recording)
    run.note("%d pairs of threads, %d equal; %d of classes" % (len(threads), same, len(classes)))


def compare_loads(theirs, ours):
    """Means over the time that both have: single seconds begin at other moments."""
    start = max(rows[0][0] for rows in (theirs, ours))
    end = min(rows[-1][0] for rows in (theirs, ours))
    theirs, ours = ([fields for at, fields in rows if start <= at <= end] for rows in (theirs, ours))
    expect(min(len(theirs), len(ours)) >= 3, "%d and %d loads" % (len(theirs), len(ours)))
    for field in ("jvmUser", "jvmSystem", "machineTotal"):
        their, our = mean(theirs, field), mean(ours, field)
        expect(abs(their - our) <= 0.06, "%s: %.3f, ours %.3f" % (field, their, our))
    expect(mean(ours, "jvmUser") > 0.02, "the program is busy: %s" % ours)


def heap_of(text):
    """Bytes in use by what GC.heap_info says: each collector has words of its own."""
    generations = re.findall(r"total \d+K, used (\d+)K", text)
    if generations:
        return sum(map(int, generations)) << 10
    said = re.search(r"used (\d+)([KM])\b|\b(\d+)([KM]) used", text)
    expect(said, "heap_info: %s" % text)
    return int(said[1] or said[3]) << (20 if "M" in (said[2], said[4]) else 10)


def compare_heap(jvm, run, recording):
    """What lives after a collection that was asked for, in a program that makes little."""
    series = recording.raw["timeline"]["series"]
    expect(0 < series["heap_committed_bytes"][-1] <= 512 * MIB, "committed: %s" %
           series["heap_committed_bytes"][-1])
    jcmd(run, jvm.pid, "GC.run")
    used = run.record(jvm.pid, 2, "-e", "cpu,counter").raw["timeline"]["series"]["heap_used_bytes"]
    their = heap_of(jcmd(run, jvm.pid, "GC.heap_info"))
    # ZGC and Shenandoah count at pauses, before they give memory back.
    margin = 8 * MIB if "heap_eden_used_bytes" in series else 128 * MIB
    expect(used[-1] > 0 and abs(used[-1] - their) <= margin, "heap: %d, ours %d" % (
        their, used[-1]))


def facts(rows):
    """The fields of the last one; some are of 64 bits without a sign."""
    return {name: value & ((1 << 64) - 1) if isinstance(value, int) and not isinstance(value, bool)
            else value for name, value in rows[-1][1].items()}


@test("configuration beside the JVM's own", lowest=17, params=COLLECTORS)
def configuration(run, gc):
    jvm = run.java("Idle", flags=("-XX:+UnlockExperimentalVMOptions", gc, "-XX:+UsePerfData",
                                  "-XX:MaxGCPauseMillis=77", "-XX:NewSize=20m"))
    names = CONFIGURATIONS + FLAGS + ("jdk.InitialSystemProperty",)
    theirs, ours, recording = both(run, jvm, 3, *names)
    for name in CONFIGURATIONS:
        expect(ours[name], "no %s" % name)
        their, our = facts(theirs[name]), facts(ours[name])
        # 17 has fewer fields.
        our = {field: value for field, value in our.items() if field in their}
        expect(their == our, "%s: %s, ours %s" % (name, their, our))
    count = 0
    for name in FLAGS:
        their = {fields["name"]: fields for _, fields in theirs[name]}
        for _, our in ours[name]:
            expect(their.get(our["name"]) == our or our["name"] not in their,
                   "%s, ours %s" % (their.get(our["name"]), our))
            count += our["name"] in their
    expect(count > 30, "%d flags" % count)
    their = {fields["key"]: fields["value"] for _, fields in theirs["jdk.InitialSystemProperty"]}
    our = {fields["key"]: fields["value"] for _, fields in ours["jdk.InitialSystemProperty"]}
    # The JVM shows java.version only among its counters.
    same = [key for key in our if key in their]
    expect(len(same) >= 9, "properties: %s" % our)
    for key in same:
        expect(their[key] == our[key], "%s: %s, ours %s" % (key, their[key], our[key]))
    settings = {row["name"]: row for row in recording.raw["settings"]}
    expect(settings["MaxGCPauseMillis"]["value"] == "77" and
           settings["MaxGCPauseMillis"]["origin"] == "Command line", "a flag: %s" %
           settings["MaxGCPauseMillis"])
    run.note("%d events, %d flags and %d properties are equal" % (
        len(CONFIGURATIONS), count, len(same)))


# View of jfr and a word of our recording that must be in it.
VIEWS = {
    "cpu-load": "JVM User (Average)",
    "gc-configuration": "Old GC",
    "heap-configuration": "Maximum Heap Size: 512.0 MB",
    "compiler-configuration": "Tiered Compilation: true",
    "compiler-statistics": "Compiled Methods",
    "thread-count": "Peak Threads",
    "thread-cpu-load": "busy",
    "jvm-information": "PID: ",
    "system-properties": "java.home",
    "jvm-flags": "MaxHeapSize",
    "container-configuration": "CPU Quota: 20.0 ms",
    "container-cpu-throttling": "CPU Throttled Slices",
}


class Quota:
    """A control group of version 1 or 2 that gives its processes a fifth of a CPU."""

    def __init__(self):
        first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
        if (first / "cpu.cfs_quota_us").exists() or (first / "cpu.shares").exists():
            self.path = first / "jvmscope-test"
            self.limit, self.value = "cpu.cfs_quota_us", "20000"
        elif (second / "cgroup.controllers").exists():
            self.path = second / "jvmscope-test"
            self.limit, self.value = "cpu.max", "20000 100000"
        else:
            raise Skip("no control group for CPU time here")

    def __enter__(self):
        try:
            self.path.mkdir(exist_ok=True)
            (self.path / self.limit).write_text(self.value, encoding="ascii")
        except OSError as error:
            raise Skip("no control group of our own: %s" % error) from None
        return self

    def __exit__(self, *_):
        # The JVM is ended after the test: it leaves before.
        for line in (self.path / "cgroup.procs").read_text(encoding="ascii").split():
            (self.path.parent / "cgroup.procs").write_text(line, encoding="ascii")
        self.path.rmdir()

    def throttled(self):
        text = (self.path / "cpu.stat").read_text(encoding="ascii")
        return int(re.search(r"^nr_throttled (\d+)$", text, re.MULTILINE)[1])

    def take(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid), encoding="ascii")


@test("counters fill views of jfr", lowest=17, params=COLLECTORS)
def views(run, gc):
    """JFR is off in this JVM, which gets a fifth of a CPU and wants two."""
    jvm = run.java("BusyThreads", 30, 2, flags=("-XX:+UnlockExperimentalVMOptions", gc,
                                                "-XX:+UsePerfData"))
    path, json = run.output(".jfr"), run.output()
    with Quota() as quota:
        quota.take(jvm.pid)
        before = quota.throttled()
        scope = run.scope("-p", jvm.pid, "-d", 5, "-e", "cpu,counter", "--no-progress",
                          "-f", path, "-f", json)
        series = run.finish(scope, json, 40).raw["timeline"]["series"]
        after = quota.throttled()
    throttled = [value for value in series["cgroup_cpu_throttled_periods_total"] if value is not None]
    # How many there are depends on who else uses the CPUs.
    expect(before <= throttled[0] < throttled[-1] <= after,
           "periods that were cut: %s, from %d to %d" % (throttled, before, after))
    expect(series["cgroup_cpu_quota_us"][0] == 20000, "quota: %s" % series["cgroup_cpu_quota_us"])
    used = [value for value in series["cpu_user_ns_total"] if value is not None]
    at = [value for value in series["counted_at_ns"] if value is not None]
    share = (used[-1] - used[0]) / (at[-1] - at[0])
    expect(0.02 < share < 0.3, "%.2f of a CPU, a fifth of one is allowed" % share)
    for tool in tools():
        if tool.jdk.major < 25:
            continue
        for view, word in VIEWS.items():
            text = tool.run("view", view, path)
            expect(word in text, "jfr view %s: no '%s' in:\n%s" % (view, word, text))
    run.note("%.2f of a CPU, %d of %d periods cut" % (
        share, throttled[-1] - throttled[0],
        series["cgroup_cpu_periods_total"][-1] - series["cgroup_cpu_periods_total"][0]))


@test("a JVM without counters", jdks=[""])
def without(run):
    jvm = run.java("Idle", flags=("-XX:-UsePerfData",))
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-d", 5, "-e", "cpu,counter", "--no-progress", "-f", path)
    series = run.finish(scope, path, 40).raw["timeline"]["series"]
    said = [line for line in scope.err if "-XX:-UsePerfData" in line]
    expect(len(said) == 1, "said %d times: %s" % (len(said), scope.err))
    expect(not any(name.startswith(("heap_", "threads_", "classes_")) for name in series),
           "series of nothing: %s" % list(series))
    expect(series["rss_bytes"] and series["cpu_user_ns_total"], "what the kernel counts is there")
