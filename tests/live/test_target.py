# SPDX-License-Identifier: Apache-2.0
"""What the recorded JVM notices of us: nothing, however we come and go."""
import os
import re
import signal
import time

import cputime
import hsperf
import kernel
from harness import Failure, Jvm, check_complete, check_shares, expect, named, percent, wait_until
from recording import Recording, total
from suite import test


def private_tmp(command):
    """Runs a command with a /tmp of its own, so that every file left there is seen."""
    return ["unshare", "--mount", "sh", "-c",
            'mount -t tmpfs tmp /tmp && exec "$@"', "sh", *command]


def fds(pid):
    found = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            found.append("%s %s" % (fd, os.readlink("/proc/%d/fd/%s" % (pid, fd))))
        except OSError:
            pass
    return sorted(found)


def files(pid):
    found = []
    for folder, _, names in os.walk("/proc/%d/root/tmp" % pid):
        found += [os.path.join(folder, name) for name in names]
    return sorted(found)


def mapped(pid):
    with open("/proc/%d/maps" % pid, encoding="utf-8") as lines:
        return sorted({line.split(None, 5)[5].strip() for line in lines if "/" in line})


def status(pid, key):
    with open("/proc/%d/status" % pid, encoding="utf-8") as lines:
        return next(line.split()[1] for line in lines if line.startswith(key + ":"))


def state(pid):
    return {"threads": sorted(cputime.threads(pid).values()), "fds": fds(pid), "files": files(pid),
            "mapped": mapped(pid)}


def settled(pid, before):
    """The state once it is as before; the last one after a while."""
    for _ in range(20):
        after = state(pid)
        if after == before:
            break
        time.sleep(0.1)
    return after


def safepoint_rate(path, seconds):
    first = hsperf.read(path)["sun.rt.safepoints"]
    time.sleep(seconds)
    return (hsperf.read(path)["sun.rt.safepoints"] - first) / seconds


@test("nothing changes in the target", quick=True)
def untouched(run):
    flags = ("-XX:+DisableAttachMechanism", "-XX:+UsePerfData")
    command = run.java_command("Safepoints", 14, flags=flags, wait=True, hold=20)
    jvm = run.track(Jvm(private_tmp(command))).ready()
    jvm.go()
    perf = next(path for path in files(jvm.pid) if "/hsperfdata_" in path)
    time.sleep(4)
    alone = safepoint_rate(perf, 3)
    before = state(jvm.pid)
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-d", 4, "-F", 997, "-f", path, "--no-progress")
    run.wait_recording(scope)
    traced = status(jvm.pid, "TracerPid")
    watched = safepoint_rate(perf, 2.5)
    recording = run.finish(scope, path)
    after = settled(jvm.pid, before)
    expect(traced == "0", "the target was traced by pid %s" % traced)
    for what, value in before.items():
        gone = [x for x in value if x not in after[what]]
        new = [x for x in after[what] if x not in value]
        expect(not gone and not new, "%s changed: new %s, gone %s" % (what, new, gone))
    expect(not any("Attach Listener" in name for name in after["threads"]), "Attach Listener runs")
    expect(alone > 2, "the program has no safepoints to compare")
    expect(abs(watched - alone) <= 0.25 * alone,
           "safepoints a second: %.2f alone, %.2f recorded" % (alone, watched))
    run.note("safepoints a second %.2f alone, %.2f recorded" % (alone, watched))
    samples = list(recording.samples(name="mix"))
    run.note(check_complete(recording, samples))
    truth = jvm.truth()
    run.note(check_shares(samples, named("MixShares", truth["cpu_ns"])))


def rss_kb(pid):
    return int(status(pid, "VmRSS"))


def round_of(run, pid, number):
    """One attach and detach: most end by -d, half by SIGINT, one in ten by SIGKILL."""
    path = run.output()
    scope = run.scope("-p", pid, "-d", "0.2s" if number % 2 else "60", "-F", 499, "-f", path, "-q")
    if number % 10 == 9:
        time.sleep(0.1 + 0.05 * (number % 7))
        scope.signal(signal.SIGKILL)
        scope.wait(10)
        return 0
    if number % 2 == 0:
        run.wait_recording(scope)
        scope.signal(signal.SIGINT)
    got = scope.wait(20)
    expect(got == 0, "round %d ended with %s: %s" % (number, got, " | ".join(scope.err)))
    recording = Recording(path)
    os.unlink(path)
    return recording.quality["samples"]


def rounds_of(run, count):
    jvm = run.java("MixShares", 3 * count + 20, wait=True, hold=5)
    jvm.go()
    time.sleep(5)
    programs = kernel.orphaned_program_ids()
    before, rss = fds(jvm.pid), rss_kb(jvm.pid)
    samples = sum(round_of(run, jvm.pid, number) for number in range(count))
    expect(samples > 0, "no samples in %d rounds" % count)
    expect(jvm.process.poll() is None, "the target died")
    expect(fds(jvm.pid) == before, "file descriptors changed: %s" % fds(jvm.pid))
    grown = 100 * (rss_kb(jvm.pid) - rss) / rss
    expect(abs(grown) <= 5, "RSS of the target changed by %.1f %%" % grown)
    left = lambda: kernel.orphaned_program_ids() - programs
    try:
        wait_until(lambda: not left(), 15, "", interval=0.5)
    except Failure:
        raise Failure("BPF programs left behind: %s" % left()) from None
    run.note("%d rounds, %d samples, RSS %+.1f %%" % (count, samples, grown))


@test("attach and detach", quick=["10 rounds"], each_jdk=False, limit=120,
      params={"10 rounds": {"count": 10}})
def rounds(run, count):
    rounds_of(run, count)


@test("attach and detach, soak", modes=("soak",), limit=1800,
      params={"200 rounds": {"count": 200}})
def rounds_soak(run, count):
    rounds_of(run, count)


@test("the JVM is killed in mid-run", quick=True, each_jdk=False)
def killed(run):
    jvm = run.java("MixShares", 60, wait=True)
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-F", 499, "-f", path, "--no-progress")
    run.wait_recording(scope)
    jvm.go()
    time.sleep(3)
    jvm.signal(signal.SIGKILL)
    recording = run.finish(scope, path)
    expect(any("ended" in line for line in scope.err), "no word of it: %s" % scope.err)
    samples = list(recording.samples(name="mix"))
    expect(total(samples) > 100, "only %d samples" % total(samples))
    # A thread that dies has no user registers any more, only its kernel stack.
    run.note(check_complete(recording, samples, 99))


@test("the JVM is killed while it is attached to", each_jdk=False)
def killed_early(run):
    """That it ended is no failure, and what could not be done with it any more is not listed."""
    seen = set()
    for step in range(16):
        jvm = run.java("MixShares", 60)
        scope = run.scope("-p", jvm.pid, "-d", 5, "-q", "-f", run.output())
        time.sleep(0.02 * step)
        jvm.signal(signal.SIGKILL)
        status = scope.wait(20)
        lines = [line.replace(str(jvm.pid), "PID") for line in scope.err]
        expect(status in (0, 4), "killed after %d ms: status %s: %s" % (20 * step, status, lines))
        expect(len(lines) <= 1, "killed after %d ms: %s" % (20 * step, lines))
        seen.update(["status %d: %s" % (status, line) for line in lines])
    run.note("; ".join(sorted(seen)))


@test("a JVM of half a second", quick=True)
def short_life(run):
    path = run.output()
    command = run.java_command("ShortLife", 400)
    scope = run.scope("-F", 997, "-f", path, "--no-progress", "--", *command)
    recording = run.finish(scope, path)
    samples = [s for s in recording.samples() if s.has("ShortLife.burn")]
    expect(samples, "no sample of burn()")
    tid = samples[0].thread["tid"]
    # Before the JVM's tables have values its frames cannot be named: that is the first 0.1 to 0.2 s.
    share = percent(total(samples), total(recording.samples(tid=tid)))
    expect(share >= 30, "burn() in only %.0f %% of the thread's samples" % share)
    expect(any(s.has("ShortLife.main") for s in samples), "no main() below burn()")
    good = total(s for s in samples if s.is_complete)
    expect(good >= 0.99 * total(samples), "%d of %d complete" % (good, total(samples)))
    run.note("burn() in %.0f %% of %d samples of its thread" % (
        share, total(recording.samples(tid=tid))))


@test("libraries are known as soon as they run", quick=True)
def known_libraries(run):
    """
    A JVM that starts maps some 20 files in 100 ms. Who does not let the recorder run for so long,
    as on a busy machine, adds to what is not known: the best of some runs counts.
    """
    shares = []
    while len(shares) < 3 or (min(shares) > 1 and len(shares) < 8):
        path = run.output()
        command = run.java_command("ShortLife", 400)
        scope = run.scope("-F", 997, "-f", path, "--no-progress", "--", *command)
        quality = run.finish(scope, path).quality
        shares.append(percent(quality["broken_by"].get("no_mapping", 0), quality["samples"]))
    text = ", ".join("%.1f %%" % share for share in shares)
    expect(min(shares) <= 1, "of the samples %s were in no known mapping" % text)
    run.note("in no known mapping: %s" % text)


@test("the command's own status is told", quick=True, each_jdk=False)
def command_status(run):
    path = run.output()
    command = run.java_command("ShortLife", 300, 7)
    scope = run.scope("-f", path, "-q", "--", *command)
    expect(scope.wait(30) == 0, "ended with %s: %s" % (scope.process.returncode, scope.err))
    expect(any(re.search(r"\b7\b", line) for line in scope.err), "status 7 not told: %s" % scope.err)


@test("two JVMs in one recording", each_jdk=False)
def two_jvms(run):
    jvms = [run.java("MixShares", 20, wait=True) for _ in range(2)]
    for jvm in jvms:
        jvm.go()
    path = run.output()
    scope = run.scope("-p", "%d,%d" % (jvms[0].pid, jvms[1].pid), "-d", 3, "-F", 499, "-f", path,
                      "--no-progress")
    recording = run.finish(scope, path)
    expect(len(recording.jvms) == 2, "%d JVMs in the file" % len(recording.jvms))
    for index in range(2):
        samples = [s for s in recording.samples(jvm=index) if s.has("MixShares.run")]
        expect(total(samples) > 300, "JVM %d: only %d samples" % (index, total(samples)))
        run.note(check_complete(recording, samples))
