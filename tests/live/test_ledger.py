# SPDX-License-Identifier: Apache-2.0
"""The memory ledger: adds up to Rss, nothing unexplained, and the line that grew is the right one."""
import json
import re
import signal
import subprocess
import time
from pathlib import Path

from harness import Skip, expect, wait_until
from suite import test

MIB = 1 << 20

# What a JVM of each collector is started with; where it is missing, the JVM says so.
COLLECTORS = {name: {"gc": "-XX:+Use%sGC" % name}
              for name in ("G1", "Serial", "Parallel", "Z", "Shenandoah")}


class Ledger:
    """What JSON says of the only JVM's memory."""

    def __init__(self, recording):
        native = recording.raw["native"]
        self.rows = {row["line"]: row for row in native["ledger"]}
        self.parts = native["ledger_parts"]
        self.start, self.end = native["ledger_readings"]
        self.nmt = {row["tag"]: row for row in native["nmt"]}
        self.rss = native["rss_bytes"]

    def growth(self, line, key="bytes"):
        return self.rows[line][key] - self.rows[line]["start_" + key]

    def top(self):
        """Lines by growth, the largest first."""
        return sorted(self.rows, key=self.growth, reverse=True)

    def text(self):
        return "\n".join("  %-20s %10d KiB %+9d KiB" % (line, row["bytes"] >> 10,
                                                        self.growth(line) >> 10)
                         for line, row in self.rows.items())

    def check(self, share, reading="end"):
        """The lines add up, and no more than a share of Rss is unexplained or came meanwhile."""
        prefix = "" if reading == "end" else "start_"
        whole = getattr(self, reading)["rss_bytes"]
        lines = {line: row[prefix + "bytes"] for line, row in self.rows.items()}
        expect(whole > 10 * MIB, "Rss of %d" % whole)
        expect(sum(lines.values()) == whole, "lines are %d, Rss is %d\n%s" % (
            sum(lines.values()), whole, self.text()))
        negative = [line for line, value in lines.items()
                    if value < 0 and line != "moved_while_reading"]
        expect(not negative, "less than nothing in %s" % negative)
        expect(lines["unexplained"] <= share * whole, "%d KiB of %d unexplained\n%s" % (
            lines["unexplained"] >> 10, whole >> 10, self.text()))
        return lines


def rss(pid):
    text = Path("/proc/%d/smaps_rollup" % pid).read_text(encoding="utf-8")
    return int(re.search(r"^Rss:\s+(\d+) kB", text, re.M)[1]) * 1024


# The JVM gives back what compilers no longer need every 5 s: up to 2.5 MiB of malloc.
CLEANER_SECONDS = 5.5
CLEANER_BYTES = 5 << 19


def wait_quiet(pid, seconds=1.5):
    """Until the JVM's own threads have done what they do after the start."""
    seen = [0.0, rss(pid)]

    def quiet():
        now = rss(pid)
        if now != seen[1]:
            seen[:] = [time.monotonic(), now]
        elif not seen[0]:
            seen[0] = time.monotonic()
        return time.monotonic() - seen[0] > seconds
    wait_until(quiet, 30, "Rss of the idle JVM keeps moving", interval=0.1)


def grow(run, kind, count, flags=(), **options):
    """Records a program from before to after it grew, and until it is quiet again."""
    jvm = run.java("MemoryGrowth", kind, count, flags=flags, wait=True, hold=60, **options)
    wait_quiet(jvm.host_pid)
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-e", "cpu,counter", "-f", path, "--no-progress")
    run.wait_recording(scope)
    time.sleep(0.5)
    jvm.go()
    jvm.truth(120)
    wait_quiet(jvm.host_pid)
    scope.signal(signal.SIGINT)
    return jvm, Ledger(run.finish(scope, path))


@test("ledger when idle", lowest=8, quick=["G1"], jdks=["G1", "Parallel"], params=COLLECTORS)
def idle(run, gc):
    """Also: the target's Rss does not change by looking."""
    flags = ("-XX:+UnlockExperimentalVMOptions", gc, "-XX:+UsePerfData")
    jvm = run.java("MemoryGrowth", "idle", 0, flags=flags, hold=60)
    wait_quiet(jvm.host_pid, CLEANER_SECONDS)
    before = rss(jvm.host_pid)
    recording = run.record(jvm.host_pid, 3, "-e", "cpu,counter")
    after = rss(jvm.host_pid)
    ledger = Ledger(recording)
    lines = ledger.check(0.001)
    ledger.check(0.001, "start")
    expect(abs(lines["moved_while_reading"]) <= 0.001 * before, "%d bytes came or went" %
           lines["moved_while_reading"])
    expect(before == after, "Rss was %d, and is %d after looking" % (before, after))
    expect(ledger.rss == after, "Rss is %d, the ledger says %d" % (after, ledger.rss))
    tasks = len(list(Path("/proc/%d/task" % jvm.host_pid).iterdir()))
    expect(ledger.rows["thread_stacks"]["count"] == tasks, "%d threads, %d stacks" % (
        tasks, ledger.rows["thread_stacks"]["count"]))
    series = recording.raw["timeline"]["series"]
    expect(series["rss_bytes"][-1] == after, "the last of the series: %s" % series["rss_bytes"])
    expect(sum(value is not None for value in series["rss_bytes"]) >= 3, "one value a second")
    expect(series["ledger_java_heap_bytes"][0] == ledger.rows["java_heap"]["start_bytes"],
           "the first ledger is in the first second")
    expect(3 < series["threads_live"][-1] <= tasks or jvm_hides_counters(run),
           "%s threads live" % series.get("threads_live"))
    run.note("%d KiB, unexplained %d KiB, %.0f and %.0f ms" % (
        after >> 10, lines["unexplained"] >> 10, ledger.start["cost_ns"] / 1e6,
        ledger.end["cost_ns"] / 1e6))


def jvm_hides_counters(run):
    """The JVM has no counters where its user has no name, as in the roots of other JDKs."""
    return run.jdk.root is not None


@test("ledger shows what grows", lowest=8, quick=["threads"],
      jdks=["threads", "direct", "zip", "classes"], params={
    "threads": {"kind": "threads", "count": 200, "line": "thread_stacks", "least": 200 * 8192},
    "direct": {"kind": "direct", "count": 60, "line": "malloc", "least": 60000180},
    "zip": {"kind": "zip", "count": 200, "line": "malloc", "least": 200 * 200000},
    "classes": {"kind": "classes", "count": 1500, "line": "metaspace", "least": 1500 * 16000},
    "heap": {"kind": "heap", "count": 100, "line": "java_heap", "least": 100 * MIB}})
def growth(run, kind, count, line, least):
    jvm, ledger = grow(run, kind, count)
    ledger.check(0.002)
    grown = ledger.growth(line)
    # Compilers give back what they no longer need, see CLEANER_SECONDS.
    least -= CLEANER_BYTES if line == "malloc" else 0
    # The garbage of a program that loads classes grows the heap, too.
    top = next(name for name in ledger.top() if name == line or name != "java_heap")
    expect(top == line, "%s grew most\n%s" % (top, ledger.text()))
    expect(least <= grown <= 1.3 * least + 4 * MIB or kind in ("threads", "zip"),
           "%s grew by %d, at least %d are sure" % (line, grown, least))
    expect(grown >= least, "%s grew by %d, at least %d are sure" % (line, grown, least))
    expect(ledger.rows[line]["committed_bytes"] >= ledger.rows[line]["bytes"] - 16 * MIB,
           "more is resident than committed\n%s" % ledger.text())
    if kind == "threads":
        expect(ledger.growth(line, "count") == count, "%+d stacks" % ledger.growth(line, "count"))
        part = [row for row in ledger.parts if row["part"] == "stack"]
        expect(len(part) == 1 and part[0]["count"] == count, "parts: %s" % part)
    if kind == "direct":
        check_buffers(run, ledger, count)
    run.note("%s grew by %.1f MiB of %.1f" % (
        line, grown / MIB, (ledger.end["rss_bytes"] - ledger.start["rss_bytes"]) / MIB))
    expect(jvm.process.poll() is None, "the JVM ended")


def check_buffers(run, ledger, count):
    """JDK 8 lists no classes by loader, so that its counters are not found."""
    now, then = ledger.end["direct_buffers"], ledger.start["direct_buffers"]
    if run.jdk.major == 8:
        expect(now["count"] == 0, "buffers of %s: %s" % (run.jdk, now))
        return
    expect(now["count"] - then["count"] == count, "%s, was %s" % (now, then))
    expect(now["capacity_bytes"] - then["capacity_bytes"] == count * 1000003,
           "%s, was %s" % (now, then))


@test("ledger while busy", lowest=8, limit=120, params={
    name: {"gc": COLLECTORS[name]["gc"]} for name in ("G1", "Parallel", "Z")})
def busy(run, gc):
    flags = ("-XX:+UnlockExperimentalVMOptions", gc)
    jvm = run.java("MemoryGrowth", "busy", 30, flags=flags, hold=5)
    worst = 0
    for _ in range(4):
        ledger = Ledger(run.record(jvm.host_pid, 2, "-e", "cpu,counter"))
        for reading in ("start", "end"):
            lines = ledger.check(0.005, reading)
            worst = max(worst, abs(lines["moved_while_reading"]) / ledger.rss)
    run.note("at most %.2f %% came or went while it was read" % (100 * worst))


NMT_LINE = re.compile(r"-\s+(.+?) \(reserved=\d+[KMG]?B?, committed=")


def native_memory(run, pid):
    """{tag: bytes of blocks} as jcmd prints them."""
    jcmd = run.jdk.home / "bin" / "jcmd"
    if not jcmd.exists():
        raise Skip("no jcmd")
    text = subprocess.run([jcmd, str(pid), "VM.native_memory", "summary", "scale=b"],
                          capture_output=True, text=True, check=True, timeout=30).stdout
    tags, tag = {}, None
    for line in text.splitlines():
        match = NMT_LINE.match(line.strip())
        if match:
            tag = match[1].strip()
        match = re.search(r"\(malloc=(\d+)", line)
        if match and tag:
            tags.setdefault(tag, int(match[1]))
    expect(len(tags) > 10, "jcmd: %s" % text[:500])
    return tags


def grown_by(before, after, tag):
    """The least and the most by which a tag grew, of readings around each of the recorder's."""
    then = [tags.get(tag, 0) for tags in before]
    now = [tags.get(tag, 0) for tags in after]
    return min(now) - max(then), max(now) - min(then)


@test("ledger beside NMT", params={"direct": {"kind": "direct", "count": 60},
                                   "threads": {"kind": "threads", "count": 100},
                                   "classes": {"kind": "classes", "count": 1000}})
def beside_nmt(run, kind, count):
    """The JVM's own counters, read without it, and what libc's chunks say of the same."""
    jvm = run.java("MemoryGrowth", kind, count, flags=("-XX:NativeMemoryTracking=summary",),
                   wait=True, hold=60)
    native_memory(run, jvm.host_pid)
    wait_quiet(jvm.host_pid)
    before = [native_memory(run, jvm.host_pid)]
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-e", "cpu,counter", "-f", path, "--no-progress")
    run.wait_recording(scope)
    time.sleep(0.5)
    before.append(native_memory(run, jvm.host_pid))
    jvm.go()
    jvm.truth(120)
    wait_quiet(jvm.host_pid)
    after = [native_memory(run, jvm.host_pid)]
    scope.signal(signal.SIGINT)
    ledger = Ledger(run.finish(scope, path))
    after.append(native_memory(run, jvm.host_pid))
    compared, worst = 0, (0, "")
    arenas = sum(row["arena_bytes"] - row["start_arena_bytes"] for row in ledger.nmt.values())
    for tag, row in ledger.nmt.items():
        least, most = grown_by(before, after, tag)
        ours = row["malloc_bytes"] - row["start_malloc_bytes"]
        slack = 1024
        if tag == "Arena Chunk":
            # jcmd prints what no arena has. Compilers keep some, and give them back when idle.
            ours -= arenas
            slack = 2 * MIB
        # jcmd prints no tag with nothing in it; itself it takes some KiB of several tags.
        off = max(0, least - ours, ours - most)
        expect(off <= 0.01 * abs(most) + slack,
               "%s: jcmd says %+d to %+d bytes, the counters %+d" % (tag, least, most, ours))
        compared += least > 65536
        worst = max(worst, (off, tag)) if tag != "Arena Chunk" else worst
    expect(compared >= 1, "nothing grew: %s" % after)
    chunks = ledger.rows["malloc"]["committed_bytes"]
    counted = sum(row["malloc_bytes"] + row["arena_bytes"] for row in ledger.nmt.values())
    expect(counted <= chunks * 1.02, "NMT counts %d bytes, libc's chunks are %d" % (counted, chunks))
    run.note("%d tags, at most %d bytes off (%s); NMT %.1f MiB, chunks %.1f MiB" % (
        len(ledger.nmt), *worst, counted / MIB, chunks / MIB))


@test("ledger of a JVM that starts and ends", quick=True, each_jdk=False)
def whole_life(run):
    """Started by the recorder, and ended before it: the last complete ledger stays."""
    path, jfr = run.output(), run.output(".jfr")
    command = run.java_command("MemoryGrowth", "heap", 50, wait=True, hold=5,
                               flags=("-XX:NativeMemoryTracking=summary",))
    scope = run.scope("record", "-e", "cpu,counter", "-f", path, "-f", jfr, "--no-progress", "--",
                      *command)
    scope.line("READY", 30)
    # It grows behind the first ledger: that Rss moved is what there is a second one for.
    time.sleep(2)
    scope.go()
    ledger = Ledger(run.finish(scope, path, 60))
    lines = ledger.check(0.02)
    expect(ledger.end["time_ns"] > ledger.start["time_ns"], "one ledger only")
    expect(lines["java_heap"] > 50 * MIB, "the heap at the end\n%s" % ledger.text())
    check_events(run, jfr, ledger)


def check_events(run, path, ledger):
    """The same readings are in a JFR file, as the JDK's own tool reads it."""
    names = ("jvmscope.Ledger", "jdk.ResidentSetSize", "jdk.NativeMemoryUsage",
             "jdk.NativeMemoryUsageTotal")
    text = subprocess.run([run.jdk.home / "bin" / "jfr", "print", "--json", "--events",
                           ",".join(names), path],
                          capture_output=True, text=True, check=True, timeout=60).stdout
    events = {name: [] for name in names}
    for event in json.loads(text)["recording"]["events"]:
        events[event["type"]].append(event["values"])
    rows = {}
    for event in events["jvmscope.Ledger"]:
        rows.setdefault(event["startTime"], {})[event["line"]] = event["resident"]
    # There is one each second, too; those of a ledger are of its time.
    sizes = [event["size"] for event in events["jdk.ResidentSetSize"] if event["startTime"] in rows]
    expect(sizes[0] == ledger.start["rss_bytes"] and sizes[-1] == ledger.end["rss_bytes"],
           "Rss in JFR: %s" % sizes)
    expect(all(event["peak"] >= event["size"] for event in events["jdk.ResidentSetSize"]),
           "peaks below sizes")
    expect([sum(lines.values()) for lines in rows.values()] == sizes, "lines in JFR: %s" % rows)
    expect(list(rows.values())[-1] == {line: row["bytes"] for line, row in ledger.rows.items()},
           "the last in JFR: %s" % rows)
    last = {event["type"]: event for event in events["jdk.NativeMemoryUsage"]}
    expect(len(events["jdk.NativeMemoryUsageTotal"]) == len(sizes), "totals of NMT")
    expect(set(last) == set(ledger.nmt), "tags in JFR: %s" % sorted(last))
    arenas = sum(row["arena_bytes"] for row in ledger.nmt.values())
    for tag, row in ledger.nmt.items():
        # The blocks that arenas are made of are counted with the arenas, as the JDK does.
        counted = row["malloc_bytes"] + row["arena_bytes"] - (arenas if tag == "Arena Chunk" else 0)
        expect(last[tag]["committed"] == max(counted, 0) + row["committed_bytes"],
               "%s: %s and %s" % (tag, last[tag], row))
    for key in ("reserved", "committed"):
        total = events["jdk.NativeMemoryUsageTotal"][-1][key]
        expect(total == sum(event[key] for event in last.values()), "total %s in JFR: %s" % (key, total))
    run.note("%d readings" % len(sizes))
