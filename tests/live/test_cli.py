# SPDX-License-Identifier: Apache-2.0
"""The command line's contract: exit statuses with their one line, outputs, losses."""
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import jdks
import kernel
from harness import SCOPE, Jvm, Process, Skip, check_complete, expect, wait_until
from recording import Recording, total
from suite import test


def run_scope(run, arguments, seconds=20, **options):
    scope = run.scope(*arguments, **options)
    return scope.wait(seconds), scope.out, scope.err


def expect_error(run, arguments, status, words, lines=1, **options):
    """The recorder ends with this status and says so in one line that holds the words."""
    got, _, err = run_scope(run, arguments, **options)
    expect(got == status, "%s: status %s, not %d: %s" % (arguments, got, status, err))
    expect(len(err) == lines, "%s: %d lines: %s" % (arguments, len(err), err))
    expect(err[-1].startswith("jvmscope: "), err[-1])
    for word in words:
        expect(word in err[-1], "'%s' is not in: %s" % (word, err[-1]))
    run.note(err[-1])


# Every row: arguments, what the line must hold. All are usage errors: status 2.
USAGE = {
    "no target": (["record"], ["target"]),
    "no command": (["frobnicate"], ["frobnicate"]),
    "unknown option": (["-p", "1", "--nonsense"], ["--nonsense"]),
    "pid not a number": (["-p", "abc"], ["-p abc"]),
    "pid 0": (["-p", "0"], ["-p 0"]),
    "no argument": (["-p"], ["-p"]),
    "two kinds of target": (["-p", "1", "--all"], ["--all"]),
    "duration": (["-p", "1", "-d", "soon"], ["soon"]),
    "duration 0": (["-p", "1", "-d", "0"], ["-d 0"]),
    "frequency 0": (["-p", "1", "-F", "0"], ["-F 0"]),
    "frequency word": (["-p", "1", "-F", "fast"], ["fast"]),
    "frequency guard": (["-p", "1", "-F", "1000000"], ["1000000"]),
    "depth": (["-p", "1", "--max-depth", "1"], ["--max-depth 1"]),
    "ring size": (["-p", "1", "--ring-size", "5"], ["--ring-size 5"]),
    "event": (["-p", "1", "-e", "nonsense"], ["nonsense"]),
    "format": (["-p", "1", "--format", "xml"], ["xml"]),
    "suffix": (["-p", "1", "-f", "out.txt"], ["out.txt"]),
    "stdout without format": (["-p", "1", "-f", "-"], ["--format"]),
    "quiet and verbose": (["-p", "1", "-q", "-v"], ["-q", "-v"]),
    "color": (["-p", "1", "--color", "blue"], ["blue"]),
}


@test("exit status 2", quick=True, each_jdk=False, needs_bpf=False,
      params={label: {"arguments": row[0], "words": row[1]} for label, row in USAGE.items()})
def usage(run, arguments, words):
    expect_error(run, arguments, 2, words)


@test("exit status 4, one of several", quick=True, each_jdk=False)
def one_is_missing(run):
    jvm = run.java("Idle", 60)
    gone = subprocess.Popen(["true"])
    gone.wait()
    expect_error(run, ["-p", "%d,%d" % (jvm.pid, gone.pid), "-f", run.output()], 4,
                 [str(gone.pid)])


@test("exit status 4, a command that is no JVM", quick=True, each_jdk=False)
def command_no_jvm(run):
    status, _, err = run_scope(run, ["-f", run.output(), "--no-progress", "--", "sleep", "1"])
    expect(status == 4, "status %s: %s" % (status, err))
    expect(any("not a HotSpot JVM" in line for line in err), str(err))


@test("a command that does not exist", quick=True, each_jdk=False)
def no_such_command(run):
    status, _, err = run_scope(run, ["-f", run.output(), "--", "/nonexistent/java"])
    expect(status in (1, 2, 4), "status %s: %s" % (status, err))
    expect(len(err) == 1 and "/nonexistent/java" in err[0], str(err))
    run.note("status %d: %s" % (status, err[0]))


@test("exit status 1, the disk is full", quick=True, each_jdk=False)
def disk_full(run):
    jvm = run.java("MixShares", 30)
    status, _, err = run_scope(run, ["-p", jvm.pid, "-d", 1, "--format", "json", "-f", "/dev/full",
                                     "-q"])
    expect(status == 1, "status %s: %s" % (status, err))
    expect(len(err) == 1 and "/dev/full" in err[0] and "No space left" in err[0], str(err))
    run.note(err[0])


@test("exit status 1, no such folder", quick=True, each_jdk=False)
def no_folder(run):
    jvm = run.java("Idle", 60)
    # Found out before the recording: run_scope waits for less.
    expect_error(run, ["-p", jvm.pid, "-d", 600, "-f", "/nonexistent/out.json"], 1,
                 ["/nonexistent"])


@test("exit status 5, not root", quick=True, each_jdk=False)
def not_root(run):
    jvm = run.java("Idle", 60)
    copy = run.folder / "jvmscope"
    subprocess.run(["install", "-m", "755", SCOPE, copy], check=True)
    os.chmod(run.folder, 0o755)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "-p",
               str(jvm.pid), "-d", "1", "-f", "/dev/null", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    err = done.stderr.splitlines()
    expect(done.returncode == 5, "status %d: %s" % (done.returncode, err))
    expect(len(err) == 1 and err[0].startswith("jvmscope: "), str(err))
    run.note(err[0])


CAPABILITIES = {
    "CAP_BPF and CAP_SYS_ADMIN": "bpf,sys_admin",
    "CAP_PERFMON and CAP_SYS_ADMIN": "perfmon,sys_admin",
    "CAP_SYS_PTRACE": "sys_ptrace",
}


@test("exit status 5, without", each_jdk=False, quick=True,
      params={label: {"drop": drop} for label, drop in CAPABILITIES.items()})
def no_capability(run, drop):
    jvm = run.java("MixShares", 30)
    before = kernel.orphaned_program_ids()
    dropped = ",".join("-" + name for name in drop.split(","))
    command = ["setpriv", "--bounding-set", dropped, "--inh-caps", dropped, SCOPE, "-p",
               str(jvm.pid), "-d", "1", "-f", run.output(), "-q"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=20, check=False)
    err = done.stderr.splitlines()
    expect(done.returncode == 5, "status %d: %s" % (done.returncode, err))
    expect(len(err) == 1 and "CAP_" in err[0], str(err))
    wait_until(lambda: not kernel.orphaned_program_ids() - before, 15, "programs left behind")
    run.note(err[0])


@test("exit status 5, another pid namespace", quick=True, each_jdk=False)
def other_namespace(run):
    jvm = run.java("Idle", 30)
    unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
    for arguments in (["-p", 1, "-d", 1], ["-p", jvm.pid, "-d", 1], ["--", "/bin/true"]):
        scope = run.track(Process([*unshare, SCOPE, "record", *arguments]))
        status = scope.wait(20)
        expect(status == 5, "%s: status %s: %s" % (arguments, status, scope.err))
        expect(len(scope.err) == 1 and "pid namespace" in scope.err[0] and "run on the host" in
               scope.err[0], "%s: %s" % (arguments, scope.err))
    scope = run.track(Process([*unshare, SCOPE, "doctor"]))
    expect(scope.wait(20) == 5, "doctor ended with %s" % scope.process.returncode)
    expect(any(re.match(r"missing +pid namespace ", line) for line in scope.out),
           "doctor: %s" % scope.out)


@test("exit status 5, no BTF", quick=True, each_jdk=False)
def no_btf(run):
    jvm = run.java("Idle", 60)
    script = 'mount -t tmpfs none /sys/kernel/btf && exec "$@"'
    scope_command = [SCOPE, "-p", jvm.pid, "-d", "1", "-f", run.output(), "-q"]
    command = ["unshare", "--mount", "sh", "-c", script, "sh", *scope_command]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=20, check=False)
    err = done.stderr.splitlines()
    expect(done.returncode == 5, "status %d: %s" % (done.returncode, err))
    expect(len(err) == 1 and "BTF" in err[0], str(err))
    run.note(err[0])


@test("no hardware counters", quick=True, each_jdk=False)
def no_cycles(run):
    jvm = run.java("MixShares", 30)
    status, _, err = run_scope(run, ["-p", jvm.pid, "-d", 1, "--cpu-event", "cycles", "-f",
                                     run.output(), "-q"])
    if status == 0:
        run.note("this machine counts cycles")
        return
    expect(status == 5, "status %s: %s" % (status, err))
    expect(len(err) == 1 and "cpu-clock" in err[0], str(err))
    run.note(err[0])


@test("an idle target is no error", quick=True, each_jdk=False)
def idle(run):
    jvm = run.java("Idle", 60)
    time.sleep(2)
    path = run.output()
    status, _, err = run_scope(run, ["-p", jvm.pid, "-d", 2, "-F", 19, "-f", path, "--no-progress"])
    expect(status == 0, "status %s: %s" % (status, err))
    Recording(path)


@test("losses are counted", quick=True, each_jdk=False)
def losses(run):
    """The reader is stopped for two seconds, and the ring is as small as it can be."""
    jvm = run.java("T", 60, 2)
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-d", 6, "-F", 4999, "--ring-size", "64k", "-f", path,
                      "--no-progress")
    run.wait_recording(scope)
    time.sleep(0.5)
    scope.signal(signal.SIGSTOP)
    time.sleep(2)
    scope.signal(signal.SIGCONT)
    recording = run.finish(scope, path)
    expect(recording.lost > 0, "nothing lost")
    expect(total(recording.samples()) == recording.quality["samples"], "samples do not add up")
    expect(any("lost" in line for line in scope.err), "the summary says nothing of losses")
    run.note("seen %d = kept %d + lost %d %s" % (
        recording.quality["seen"], recording.quality["samples"], recording.lost,
        recording.quality["lost"]))


@test("--strict makes losses a failure", each_jdk=False)
def strict(run):
    jvm = run.java("T", 60, 2)
    scope = run.scope("-p", jvm.pid, "-d", 4, "-F", 4999, "--ring-size", "64k", "--strict", "-f",
                      run.output(), "--no-progress")
    run.wait_recording(scope)
    time.sleep(0.5)
    scope.signal(signal.SIGSTOP)
    time.sleep(2)
    scope.signal(signal.SIGCONT)
    expect(scope.wait(20) == 1, "status %s: %s" % (scope.process.returncode, scope.err[-3:]))


def collapsed_counts(text):
    rows = [line.rpartition(" ") for line in text.splitlines()]
    expect(all(row[0] and row[2].isdigit() for row in rows), "not 'frames count' in every line")
    return {row[0]: int(row[2]) for row in rows}


@test("all outputs say the same", quick=True, each_jdk=False)
def outputs(run):
    jvm = run.java("MixShares", 30)
    as_json, as_text = run.output(), run.output(".collapsed")
    status, _, err = run_scope(run, ["-p", jvm.pid, "-d", 2, "-F", 499, "-f", as_json, "-f", as_text,
                                     "--no-progress"])
    expect(status == 0, "status %s: %s" % (status, err))
    recording = Recording(as_json)
    rows = collapsed_counts(as_text.read_text())
    expect(sum(rows.values()) == recording.quality["samples"], "collapsed has %d samples, JSON %d" % (
        sum(rows.values()), recording.quality["samples"]))
    heavy = sum(count for stack, count in rows.items() if "MixShares.heavy" in stack.split(";"))
    wanted = total(s for s in recording.samples() if s.has("MixShares.heavy"))
    expect(heavy == wanted > 0, "heavy: collapsed %d, JSON %d" % (heavy, wanted))
    for path in (as_json, as_text):
        expect(any(str(path) in line for line in err), "%s is not named" % path)
    run.note(check_complete(recording, recording.samples(name="mix")))


@test("standard output, and a reader that goes away", quick=True, each_jdk=False)
def standard_output(run):
    jvm = run.java("MixShares", 30)
    arguments = ["-p", jvm.pid, "-d", 1, "-F", 499, "--format", "json", "-f", "-", "-q"]
    status, out, err = run_scope(run, arguments)
    expect(status == 0 and not err, "status %s: %s" % (status, err))
    expect(json.loads("\n".join(out))["schema"] == "jvmscope/1", "no JSON on standard output")
    command = "%s %s | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}" % (
        SCOPE, " ".join(str(word) for word in arguments))
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=20,
                          check=False)
    text = done.stderr.splitlines()
    # A small file may have fitted into the pipe before its reader went.
    expect(done.returncode in (0, 1), "status %d: %s" % (done.returncode, text))
    if done.returncode:
        expect(len(text) == 1, str(text))


ENDINGS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}


@test("ends by", quick=True, each_jdk=False,
      params={name: {"number": number} for name, number in ENDINGS.items()})
def ends_by(run, number):
    jvm = run.java("MixShares", 30)
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-f", path, "-F", 499, "--no-progress")
    run.wait_recording(scope)
    time.sleep(0.5)
    scope.signal(number)
    recording = run.finish(scope, path, 10)
    expect(recording.quality["samples"] > 0, "no samples")


@test("a pipe without a reader", quick=True, each_jdk=False,
      params={"at all": {"stalled": False}, "that reads": {"stalled": True}})
def pipe_without_reader(run, stalled):
    """A recording that cannot write what it has so far ends by a second signal."""
    jvm = run.java("MixShares", 60)
    path = run.output(".pipe")
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR) if stalled else -1
    scope = run.scope("-p", jvm.pid, "-f", path, "--format", "jfr", "--chunk", "100ms", "-q")

    def hangs():
        called = Path("/proc/%d/wchan" % scope.pid).read_text(encoding="utf-8")
        return "pipe_write" in called or "wait_for_partner" in called
    try:
        wait_until(hangs, 40, "the recorder does not hang in the pipe", interval=0.1)
        scope.signal(signal.SIGTERM)
        time.sleep(0.5)
        expect(scope.process.poll() is None, "a first signal ends it: %s" % scope.err)
        scope.signal(signal.SIGINT)
        status = scope.wait(20)
    finally:
        scope.signal(signal.SIGKILL)
        path.unlink()
        if stalled:
            os.close(reader)
    expect(status == 1, "status %s: %s" % (status, scope.err))
    expect(len(scope.err) == 1 and "interrupted a second time" in scope.err[0], str(scope.err))
    run.note(scope.err[0])


def check_schema(*paths):
    checker = jdks.ROOT / "tests" / "golden" / "schema.py"
    ended = subprocess.run([checker, *paths], capture_output=True, text=True, check=False)
    expect(ended.returncode == 0, ended.stdout[-1000:] + ended.stderr[-500:])


@test("ps, doctor, version, help", quick=True, each_jdk=False)
def other_commands(run):
    jvm = run.java("Idle", 60)
    status, out, err = run_scope(run, ["ps", "--json"])
    expect(status == 0, "ps: status %s: %s" % (status, err))
    document = json.loads("\n".join(out))
    expect(document["schema"] == "jvmscope-ps/1", "schema %s" % document["schema"])
    listed = run.output()
    listed.write_text("\n".join(out), encoding="utf-8")
    recorded = run.output()
    run.finish(run.scope("-p", jvm.pid, "-d", 1, "-f", recorded, "--no-progress"), recorded)
    check_schema(listed, recorded)
    rows = document["jvms"]
    mine = [row for row in rows if row["pid"] == jvm.pid]
    expect(len(mine) == 1, "ps does not list %d" % jvm.pid)
    expect(mine[0]["main_class"] == "Idle", "main class %s" % mine[0]["main_class"])
    status, out, err = run_scope(run, ["ps"])
    expect(status == 0 and any(str(jvm.pid) in line for line in out), "ps: %s" % out)
    needs = run.doctor(jvm.pid)
    for name in ("kernel", "BTF", "lockdown", "CAP_BPF", "perf cpu-clock", "uprobes", "tracefs",
                 "target", "libjvm.so", "build id", "symbols", "USDT probes", "vmStructs",
                 "can be recorded"):
        expect(name in needs, "doctor has no line for %s" % name)
    expect(needs["target"] == ("ok", "pid %d" % jvm.pid), "target: %s" % (needs["target"],))
    events = "cpu, native, class and counter" if needs["symbols"][0] == "ok" else "cpu and counter"
    expect(needs["can be recorded"] == ("ok", events + ", with Java, native and kernel frames"),
           "can be recorded: %s" % (needs["can be recorded"],))
    expect(re.fullmatch(r"[0-9a-f]{16,40}", needs["build id"][1]), "%s" % (needs["build id"],))
    status, out, _ = run_scope(run, ["version"])
    expect(status == 0 and re.search(r"\d+\.\d+", out[0]), "version: %s" % out)
    status, out, _ = run_scope(run, ["--version"])
    expect(status == 0 and re.search(r"\d+\.\d+", out[0]), "--version: %s" % out)
    for arguments in (["help"], ["-h"], ["record", "--help"], ["help", "record"]):
        status, out, _ = run_scope(run, arguments)
        expect(status == 0 and out, "%s: status %s" % (arguments, status))


@test("main class and options in an @argfile", quick=True, each_jdk=True)
def argument_file(run):
    options = run.folder / "options"
    long = "-Dlong=" + 5000 * "x"
    options.write_text("-Xmx128m\n%s\n-cp %s\nIdle\n" % (long, jdks.LIVE / "classes" / "11"))
    environment = dict(os.environ, JAVA_TOOL_OPTIONS="-Dtool=1")
    jvm = run.track(Jvm([run.jdk.java, "-Dline=1", "@%s" % options, 30], env=environment))
    jvm.ready()
    described = run.record(jvm.pid, 1).jvms[0]
    expect(described["main_class"] == "Idle", "main class %s" % described["main_class"])
    expect(described["jvm_args"] == "-Dtool=1 -Dline=1 -Xmx128m " + long,
           "jvm_args: %.100s, %d" % (described["jvm_args"], len(described["jvm_args"])))
    status, out, err = run_scope(run, ["ps", "--json"])
    mine = [row for row in json.loads("\n".join(out))["jvms"] if row["pid"] == jvm.pid]
    expect(status == 0 and mine[0]["main_class"] == "Idle", "ps: %s %s" % (mine, err))


@test("--all finds JVMs that start later", quick=True, each_jdk=False)
def all_jvms(run):
    first = run.java("MixShares", 30)
    path = run.output()
    scope = run.scope("--all", "-d", 8, "-F", 499, "-f", path, "--no-progress")
    run.wait_recording(scope)
    second = run.java("MixShares", 30)
    recording = run.finish(scope, path)
    pids = {row["pid"] for row in recording.jvms}
    expect({first.pid, second.pid} <= pids, "recorded %s" % pids)
    for jvm in (first, second):
        index = [row["pid"] for row in recording.jvms].index(jvm.pid)
        count = total(s for s in recording.samples(jvm=index) if s.has("MixShares.run"))
        expect(count > 300, "pid %d: %d samples" % (jvm.pid, count))


@test("first sample soon beside 400 busy threads", each_jdk=False)
def busy_machine(run):
    if os.sched_getscheduler(0) != os.SCHED_OTHER or os.nice(0) != 0:
        raise Skip("this test runs at a priority that somebody chose, and the recorder keeps it")
    command = run.java_command("BusyThreads", 8, 400, flags=("-Xss256k",), wait=True)
    jvm = run.track(Jvm(command, own_session=False))
    jvm.ready()
    jvm.go()
    time.sleep(2)
    path = run.output()
    started = time.time_ns()
    scope = run.track(Process([SCOPE, "-p", jvm.pid, "-d", 1, "-f", path, "--no-progress"],
                              own_session=False))
    recording = run.finish(scope, path)
    wait = (recording.meta["start_time_ns"] - started) / 1e9
    # Without a priority of its own it took 13 s beside 100 threads.
    expect(wait <= 3, "sampling began after %.1f s" % wait)
    names = {s.thread["name"] for s in recording.samples() if s.thread["name"].startswith("busy-")}
    expect(len(names) > 10, "only %d of the threads were seen" % len(names))
    run.note("sampling began after %.2f s" % wait)


@test("first sample soon", quick=True, each_jdk=False)
def first_sample(run):
    """The first sample is there soon; how soon is bench.py start's figure: 500 ms is the goal."""
    jvm = run.java("MixShares", 30)
    time.sleep(1)
    waits = []
    for _ in range(3):
        path = run.output()
        started = time.time_ns()
        scope = run.scope("-p", jvm.pid, "-d", 1, "-F", 997, "-f", path, "--no-progress")
        recording = run.finish(scope, path)
        waits.append((recording.meta["start_time_ns"] - started) / 1e6)
    best = min(waits)
    expect(best <= 3000, "sampling began after %.0f ms" % best)
    run.note("sampling began after %s ms" % ", ".join("%.0f" % wait for wait in waits))
