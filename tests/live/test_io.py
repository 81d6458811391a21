# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of sockets and files, against what the program measured itself."""
import os
import shutil

from harness import expect
from suite import test
from test_jfr import tools
from test_locks import FLAGS

SLOW, FAST = 8, 300
SLOW_NS = 20_000_000

# Method of the program: operation, and the end of the path of what is slow there.
KINDS = {
    "readSocket": ("socket_read", None),
    "readTimed": ("socket_read", None),
    "readChannel": ("socket_read", None),
    "writeSocket": ("socket_write", None),
    "readStream": ("file_read", "/stream-in"),
    "readRandom": ("file_read", "/random-in"),
    "readFileChannel": ("file_read", "/channel-in"),
    "writeStream": ("file_write", "/stream-out"),
    "writeFileChannel": ("file_write", "/channel-out"),
    "writeFast": ("file_write", "plain"),
    "writeRandomFast": ("file_write", "plain"),
    "readFast": ("file_read", "plain"),
    "readRandomFast": ("file_read", "plain"),
    "force": ("file_force", "plain"),
}


def program(run, slow=SLOW):
    """The pipes are made here: a JDK in a root of its own has no program for that."""
    folder = run.for_java("io")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("stream-in", "random-in", "channel-in", "stream-out", "channel-out"):
        os.mkfifo(folder / name)
    return "IoWork", slow, FAST, run.jdk.inside(folder)


def start(run, flags=()):
    return run.java(*program(run), flags=flags, wait=True, hold=2)


def rows_of(recording, kind):
    """The slow calls below a method. One that is timed is below the method of those that are not."""
    rows = []
    for row in recording.raw["io"]:
        names = {recording.frames[frame].method for frame in recording.raw["stacks"][row["stack"]]}
        if row["operation"] == KINDS[kind][0] and "IoWork." + kind in names and \
                (kind == "readTimed" or "IoWork.readTimed" not in names):
            rows.append(row)
    return rows


def totals_of(recording, metric, kind):
    found = [s for s in recording.samples(metric) if s.has("IoWork." + kind) and
             (kind == "readTimed" or not s.has("IoWork.readTimed"))]
    expect(all(s.is_complete for s in found), "%s: stacks are not complete" % kind)
    return sum(s.count for s in found), sum(s.value for s in found)


def check_kind(recording, kind, truth):
    operation, path = KINDS[kind]
    count = len(truth["slow"])
    rows = rows_of(recording, kind)
    # The program's clock is read outside of the call, and it may be preempted between the two: a
    # call may be slow for it alone. Those that wait for the other side are slow in any case.
    waits = kind not in ("writeFast", "writeRandomFast", "readFast", "readRandomFast", "force")
    expect(len(rows) <= count and (not waits or len(rows) >= count - 2),
           "%s: %d slow calls, %d in truth" % (kind, len(rows), count))
    expect(all(row["duration_ns"] >= SLOW_NS for row in rows), "%s: not slow" % kind)
    if len(rows) == count:
        seen = sum(row["bytes"] for row in rows)
        expect(seen == truth["slow_bytes"], "%s: %d bytes, %d in truth" % (
            kind, seen, truth["slow_bytes"]))
    # Of most of them nothing else takes long.
    if waits and len(rows) == count:
        less = sorted(theirs - row["duration_ns"] for row, theirs in zip(rows, truth["slow"]))
        expect(less[0] >= 0 and less[(len(less) - 1) // 2] <= 1_000_000,
               "%s: shorter than in truth by, in ns: %s" % (kind, less))
    seen = totals_of(recording, operation, kind)[0]
    expect(seen == truth["count"], "%s: %d calls, %d in truth" % (
        kind, seen, truth["count"]))
    if operation != "file_force":
        seen = totals_of(recording, operation + "_bytes", kind)[1]
        expect(seen == truth["bytes"], "%s: %d bytes of all, %d in truth" % (
            kind, seen, truth["bytes"]))
    for row in rows:
        if path:
            expect((row["path"] or "").endswith(path), "%s: of %s" % (kind, row["path"]))
        else:
            expect(row["address"] == "127.0.0.1" and row["port"], "%s: of %s, %s" % (
                kind, row["address"], row["port"]))
    return len(rows), count


def check_all(run, recording, truth):
    slow = {kind: check_kind(recording, kind, truth[kind]) for kind in KINDS}
    late = sum(slow[kind][1] for kind in slow)
    expect(late >= 6 * SLOW, "the program was late %d times only" % late)
    timeouts = {row["timeout_ns"] for row in rows_of(recording, "readTimed")}
    # What is left when it first waits.
    expect(all(4_900_000_000 <= timeout <= 5_000_000_000 for timeout in timeouts),
           "timeouts %s" % timeouts)
    expect(all(row["metadata"] for row in rows_of(recording, "force")), "force without metadata")
    counts = recording.raw["gc"]["counts"][0]
    lost = {name: counts["io_" + name] for name in ("ring_full", "no_thread_state", "sums_full")}
    expect(not any(lost.values()), "lost: %s" % lost)
    run.note("%d of %d slow calls, %d hits" % (
        sum(slow[kind][0] for kind in slow), late, counts["io_hits"]))


@test("reads and writes", quick=["G1"], params={
    name: {"flags": flags} for name, flags in FLAGS.items()}, jdks=["G1"])
def reads_and_writes(run, flags):
    jvm = start(run, flags)
    recording, truth = run.record_all(jvm, "-e", "io", "--max-overhead", "none")
    check_all(run, recording, truth)


EVENTS = {"socket_read": "jdk.SocketRead", "socket_write": "jdk.SocketWrite",
          "file_read": "jdk.FileRead", "file_write": "jdk.FileWrite", "file_force": "jdk.FileForce"}
VIEWS = {"socket-reads-by-host": "127.0.0.1", "socket-writes-by-host": "127.0.0.1",
         "file-reads-by-path": "/stream-in", "file-writes-by-path": "/channel-out",
         "latencies-by-type": "Socket Read"}


@test("reads and writes in JFR")
def io_in_jfr(run):
    jvm = start(run)
    path = run.output(".jfr")
    recording, _ = run.record_all(jvm, "-e", "io", "--max-overhead", "none", "-f", path)
    for tool in tools():
        counts, _ = tool.summary(path)
        for operation, event in EVENTS.items():
            wanted = sum(row["operation"] == operation for row in recording.raw["io"])
            expect(counts.get(event, 0) == wanted, "%s: %s %s, not %d" % (
                tool.jdk, event, counts.get(event), wanted))
        if tool.jdk.major < 21:
            continue
        for view, word in VIEWS.items():
            text = tool.run("view", "--width", "200", view, path)
            expect(word in text, "%s of %s: %s" % (view, tool.jdk, text))
    scope = run.scope("convert", path, "-o", run.output())
    expect(scope.wait(30) == 0, "convert: %s" % scope.err)
    expect(any("left out" in line and "reads and writes" in line for line in scope.err),
           "convert does not say what it leaves out: %s" % scope.err)
