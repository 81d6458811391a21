# SPDX-License-Identifier: Apache-2.0
"""Starts JVMs and the recorder, ends them all, and judges what came out."""
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import invokes
import jdks
from recording import Recording, total

SCOPE = jdks.BUILD / "jvmscope"


class Failure(Exception):
    """The test did not find what must be there."""


class Skip(Exception):
    """The test cannot run here; the text says why."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


# How many times longer than usual anything may take: an emulated machine is that much slower.
PATIENCE = int(os.environ.get("JVMSCOPE_PATIENCE", "1"))


def wait_until(condition, seconds, text, interval=0.05):
    """Waits for condition() to be true and returns its value."""
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(interval)
    raise Failure("after %g s: %s" % (seconds, text))


class Process:
    """
    A child in a session of its own, whose output lines are read as they come.

    own_session=False: in ours, so that the kernel shares the CPUs between it and others of ours by
    their priority (see sched(7), autogroup). It is in a process group of its own in any case.
    """

    def __init__(self, command, **options):
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            self.command, stdin=options.pop("stdin", subprocess.PIPE), stdout=subprocess.PIPE,
            stderr=options.pop("stderr", subprocess.PIPE), text=True, errors="replace",
            **({"start_new_session": True} if options.pop("own_session", True)
               else {"process_group": 0}), **options)
        self.pid = self.process.pid
        self.out = []
        self.err = []
        self.arrived = queue.Queue()
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out),
                                     (self.process.stderr, self.err)) if pair[0]]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))
            self.arrived.put(line)

    def go(self):
        """The line that a program waits for, see java_command."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def line(self, prefix, seconds):
        """Waits for a line of standard output that begins with prefix."""
        end = time.monotonic() + seconds * PATIENCE
        seen = 0
        while True:
            for line in self.out[seen:]:
                if line.startswith(prefix):
                    return line
            seen = len(self.out)
            left = end - time.monotonic()
            if left <= 0 or (self.process.poll() is not None and self._drained()):
                break
            try:
                self.arrived.get(timeout=min(left, 0.2))
            except queue.Empty:
                pass
        raise Failure("%s: no line '%s' in %g s; status %s; %s" % (
            " ".join(self.command[-4:]), prefix, seconds, self.process.poll(),
            " | ".join((self.out + self.err)[-5:])))

    def _drained(self):
        for reader in self.readers:
            reader.join(0.5)
        return not any(line for line in self.out if line.startswith(("READY", "TRUTH"))) \
            or all(not reader.is_alive() for reader in self.readers)

    def wait(self, seconds):
        try:
            status = self.process.wait(seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure("%s: still running after %g s" % (" ".join(self.command), seconds)) \
                from None
        for reader in self.readers:
            reader.join(5)
        return status

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """Kills the whole session; never fails."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream:
                    stream.close()
            except OSError:
                pass


class Jvm(Process):
    """A test program that prints READY. host_pid is its pid as the host sees it."""

    def __init__(self, command, host_pid=None, **options):
        super().__init__(command, **options)
        self.host_pid = host_pid or self.pid

    def ready(self, seconds=60):
        self.line("READY", seconds)
        return self

    def truth(self, seconds=120):
        return json.loads(self.line("TRUTH", seconds)[6:])


class Run:
    """What one test gets: a JDK, a folder, and processes that are ended after it."""

    def __init__(self, jdk, name):
        self.jdk = jdk
        self.started = []
        self.folder = Path(tempfile.mkdtemp(prefix="jvmscope-test-"))
        self.name = name
        self.notes = []
        self.number = 0

    def close(self):
        for process in reversed(self.started):
            process.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self):
        """Keeps what a failed test made, and what its processes said; returns the folder."""
        kept = jdks.LIVE / "failed" / re.sub(r"[^a-zA-Z0-9]+", "-", self.name)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for path in self.folder.glob("out*"):
            if path.is_file():  # an output may be a pipe, of which nothing is left
                shutil.copy(path, kept)
        for number, process in enumerate(self.started):
            (kept / ("process%d.txt" % number)).write_text("\n".join(
                [" ".join(process.command), *process.out, "-- standard error", *process.err, ""]))
        return kept

    def note(self, text):
        self.notes.append(text)

    def java_command(self, program, *arguments, flags=(), wait=False, hold=0, jdk=None):
        jdk = jdk or self.jdk
        command = [*jdk.command(), "-Xmx512m", "-XX:-UsePerfData"]
        command += ["-Dwait=true"] if wait else []
        command += ["-Dhold=%d" % hold] if hold else []
        return command + [*flags, "-cp", jdk.class_path(), program, *arguments]

    def track(self, process):
        self.started.append(process)
        return process

    def java(self, program, *arguments, **options):
        """Starts a program of tests/java and waits until it is ready."""
        jvm = self.track(Jvm(self.java_command(program, *arguments, **options)))
        try:
            return jvm.ready()
        except Failure:
            said = " ".join(jvm.out + jvm.err)
            for word in ("Unrecognized VM option", "not supported", "Could not create"):
                if word in said:
                    raise Skip("this JVM says: %s" % said[:150]) from None
            raise

    def scope(self, *arguments, **options):
        """Starts the recorder with these arguments, as they are."""
        return self.track(Process([SCOPE, *arguments], **options))

    def doctor(self, pid):
        """The lines of doctor about a JVM: name to (state, text)."""
        scope = self.scope("doctor", "-p", pid)
        status = scope.wait(30)
        expect(status == 0, "doctor: status %s: %s %s" % (status, scope.out, scope.err))
        needs = {}
        for line in scope.out:
            match = re.fullmatch(r"(ok|degraded|missing) +(\S+(?: \S+)*)  +(\S.*)", line)
            expect(match, "doctor: %s" % line)
            expect(match[2] not in needs, "doctor says twice: %s" % match[2])
            expect(match[1] == "ok" or re.search(r"\b(use|run|install|give|mount) ", match[3]),
                   "no cure in: %s" % line)
            needs[match[2]] = (match[1], match[3])
        return needs

    def for_java(self, name):
        """A path for a file that java reads or writes, also where it has a root of its own."""
        folder = jdks.LIVE / "for-java"
        folder.mkdir(exist_ok=True)
        return folder / name

    def output(self, suffix=".json"):
        self.number += 1
        return self.folder / ("out%d%s" % (self.number, suffix))

    def finish(self, scope, path, seconds=30, status=0):
        """Waits for a recorder to end as it should and reads its file."""
        got = scope.wait(seconds)
        expect(got == status, "jvmscope ended with %s: %s" % (got, " | ".join(scope.err[-5:])))
        recording = Recording(path)
        error = recording.identity()
        expect(error is None, "the numbers do not add up: %s" % error)
        return recording

    def wait_recording(self, scope, seconds=60):
        """Waits until the recorder has its events and nothing to do but to wait for samples."""
        def waits():
            if scope.process.poll() is not None:
                raise Failure("jvmscope ended early: %s" % " | ".join(scope.err))
            try:
                links = [os.readlink(path) for path in Path("/proc/%d/fd" % scope.pid).iterdir()]
                called = Path("/proc/%d/wchan" % scope.pid).read_text(encoding="utf-8")
            except OSError:
                return False
            return "anon_inode:[perf_event]" in links and "poll" in called
        wait_until(waits, seconds, "the recorder does not record", interval=0.02)
        time.sleep(0.2)

    def record(self, pid, seconds, *arguments):
        """Records a process for some seconds."""
        path = self.output()
        scope = self.scope("-p", pid, "-d", seconds, "-f", path, "--no-progress", *arguments)
        return self.finish(scope, path, seconds + 30)

    def record_all(self, jvm, *arguments, seconds=120):
        """
        Records a program that waits for go and holds after its truth: from before its work to after.

        Returns (recording, truth).
        """
        path = self.output()
        scope = self.scope("-p", jvm.host_pid, "-f", path, "--no-progress", *arguments)
        self.wait_recording(scope)
        jvm.go()
        truth = jvm.truth(seconds)
        scope.signal(signal.SIGINT)
        return self.finish(scope, path), truth

    def check_invokes(self, samples):
        """The invoke-chain check of all samples; fails below 99.9 %."""
        verdict = invokes.check(samples, invokes.Classes(self.jdk))
        expect(verdict.percent >= 99.9, "%s\n%s" % (verdict, verdict.worst()))
        expect(verdict.line_percent >= 99.9, "%s\n%s" % (verdict, verdict.worst()))
        return verdict


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def check_complete(recording, samples, bar=99.9):
    """Of these samples and of all that were lost, at least `bar` percent have a complete stack."""
    samples = list(samples)
    whole = total(samples) + recording.lost
    good = total(sample for sample in samples if sample.is_complete)
    share = percent(good, whole)
    bad = [sample.text() for sample in samples if not sample.is_complete]
    expect(whole > 0, "no samples")
    expect(share >= bar, "complete %.2f %% of %d samples, %d lost; broken by %s, truncated by %s\n%s" % (
        share, whole, recording.lost, recording.quality["broken_by"],
        recording.quality["truncated_by"], "\n".join(bad[:2])))
    return "%d samples, %.2f %% complete" % (whole, share)


def check_cpu(samples, cpu_ns, tolerance=5.0):
    """The samples' time equals the thread's CPU time."""
    value = sum(sample.value for sample in samples)
    off = percent(value - cpu_ns, cpu_ns)
    expect(abs(off) <= tolerance, "samples say %.3f s of CPU, the thread's clock %.3f s (%+.1f %%)" % (
        value / 1e9, cpu_ns / 1e9, off))
    return "CPU %+.1f %%" % off


def check_shares(samples, wanted, tolerance=3.0):
    """
    Each method's inclusive share of the samples is that of its CPU time.

    wanted: {method: nanoseconds}. A sample counts for the first of them on its stack.
    """
    samples = list(samples)
    whole = total(samples)
    expect(whole > 0, "no samples")
    got = dict.fromkeys(wanted, 0)
    for sample in samples:
        found = next((frame.method for frame in sample.frames if frame.method in wanted), None)
        if found:
            got[found] += sample.count
    all_ns = sum(wanted.values())
    parts = {name: (percent(got[name], whole), percent(wanted[name], all_ns)) for name in wanted}
    text = ", ".join("%s %.1f/%.1f" % (name.rpartition(".")[2], has, wants)
                     for name, (has, wants) in parts.items())
    worst = max(abs(has - wants) for has, wants in parts.values())
    expect(worst <= tolerance, "shares of %d samples, got/want %%: %s" % (whole, text))
    return "%d samples, shares %s" % (whole, text)


def named(program, cpu):
    """{"heavy": ns} of a program's truth as {"MixShares.heavy": ns}."""
    return {"%s.%s" % (program, name): ns for name, ns in cpu.items()}
