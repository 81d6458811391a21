#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What reading a large JFR file costs, beside the JDK's own "jfr summary" and a loop over the events
with the JDK's reader, on the same file in the same run; and how large our own files are beside
those of the JDK. The large file is recorded by the JDK when it is not there yet, which takes about
a minute.

usage: jfr.py [--rounds 5] [--events 2000000] [--seconds 60] [--file FILE] [PART]...

Parts (all when none is named):
  read   CPU seconds of user and system together, the median of the rounds, and peak memory
  size   CpuMixed for 60 s, recorded by the JDK and by us at the JDK's rate, side by side: bytes of
         both files for their samples (root). The JDK cuts stacks at 64 frames unless it is told
         otherwise, we at 1024; CpuMixed recurses 900 deep.

Every figure is printed beside its goal; the exit status says only whether measuring worked.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import jdks  # noqa: E402

BUILD = jdks.BUILD
CLASSES = BUILD / "bench" / "jfr"
SAMPLES = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
GOALS = {"all totals": "at most 0.5 s, 64 MiB", "walk by size": "at least 3 GB/s"}
# Settings of the JDK, the rate of its samples in Hz, the frames it keeps, and those we keep.
SIZE_CASES = (("default", 50, 64, 1024), ("profile", 100, 64, 1024), ("default", 50, 64, 64),
              ("profile", 100, 64, 64), ("default", 50, 1024, 1024))


def say(text):
    print(text, flush=True)


def compile_programs(jdk, *names):
    CLASSES.mkdir(parents=True, exist_ok=True)
    subprocess.run([jdk.javac, "-nowarn", "--release", "11", "-d", CLASSES,
                    *(ROOT / "bench" / "java" / (name + ".java") for name in names)], check=True)


# ---- read

def measure(command):
    """(seconds of CPU, peak memory in MiB) of a command."""
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit("bench: %s: status %d" % (command[0], child.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def summary(jdk, path):
    """{event: (count, bytes)}"""
    done = subprocess.run([jdk.home / "bin" / "jfr", "summary", path], capture_output=True,
                          text=True, check=True)
    return {name: (int(count), int(size)) for name, count, size in
            re.findall(r"^ (\S+) +(\d+) +(\d+) *$", done.stdout, re.MULTILINE)}


def make_file(path, jdk, events):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([jdk.java, "-Xmx512m", "-cp", CLASSES, "ManyEvents", path, str(events)],
                   check=True, env={"LC_ALL": "C.UTF-8"})


def bench_read(found, options):
    path = options.file
    compile_programs(found[0], "ManyEvents", "ReadEvents")
    if not path.exists():
        make_file(path, found[0], options.events)
    size = path.stat().st_size
    events = sum(row[0] for row in summary(found[0], path).values())
    totals = BUILD / "jfr_totals"
    say("bench: %s, %.1f MB, %d events, load average %.1f before" % (
        path.name, size / 1e6, events, os.getloadavg()[0]))
    with tempfile.TemporaryDirectory() as folder:
        rows = {
            "all totals": [totals, path],
            "walk by size": [totals, "--walk", path],
            "convert to collapsed": [BUILD / "jvmscope", "convert", "-q", path, "-o",
                                     Path(folder) / "out.collapsed"],
            "convert to JFR": [BUILD / "jvmscope", "convert", "-q", path, "-o",
                               Path(folder) / "out.jfr"],
        }
        for jdk in found:
            rows["jfr summary of %s" % jdk] = [jdk.home / "bin" / "jfr", "summary", path]
            rows["RecordingFile of %s" % jdk] = [jdk.java, "-cp", CLASSES, "ReadEvents", path]
        seen = {name: [] for name in rows}
        for _ in range(options.rounds):
            for name, command in rows.items():
                seen[name].append(measure(command))
    report(seen, size)


def report(seen, size):
    cpu = {name: statistics.median(row[0] for row in rows) for name, rows in seen.items()}
    judges = {word: min(value for name, value in cpu.items() if name.startswith(word))
              for word in ("jfr summary", "RecordingFile")}
    for name, rows in seen.items():
        text = "%-26s %.3f s of CPU [%.3f..%.3f], %.2f GB/s, %.1f MiB" % (
            name + ":", cpu[name], min(row[0] for row in rows), max(row[0] for row in rows),
            size / 1e9 / max(cpu[name], 1e-3), max(row[1] for row in rows))
        if not name.startswith(tuple(judges)):
            text += "".join(", %.3f of %s" % (cpu[name] / of, word) for word, of in judges.items())
        say(text + (" (goal: %s)" % GOALS[name] if name in GOALS else ""))


# ---- size

def count_samples(events):
    return sum(events.get(name, (0, 0))[0] for name in SAMPLES)


def bench_size(found, options):
    compile_programs(found[0], "CpuMixed")
    with tempfile.TemporaryDirectory() as folder:
        for jdk in found:
            for settings, frequency, their_depth, our_depth in SIZE_CASES:
                theirs, ours = Path(folder) / "jdk.jfr", Path(folder) / "ours.jfr"
                command = [jdk.java, "-XX:FlightRecorderOptions=stackdepth=%d" % their_depth, "-cp",
                           CLASSES, "CpuMixed"]
                record_both(jdk, command, settings, theirs,
                            ["-d", str(options.seconds), "-F", str(frequency), "--max-depth",
                             str(our_depth), "-f", ours])
                say("%s, settings %s, at most %d frames by the JDK, %d by us" % (
                    jdk, settings, their_depth, our_depth))
                report_size(jdk, theirs, ours)


def record_both(jdk, command, settings, theirs, arguments):
    java = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={"LC_ALL": "C.UTF-8"})
    try:
        time.sleep(2)
        subprocess.run([jdk.home / "bin" / "jcmd", str(java.pid), "JFR.start", "name=bench",
                        "settings=%s" % settings], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([BUILD / "jvmscope", "record", "-q", "-e", "cpu", "-p", str(java.pid),
                        *arguments], check=True)
        subprocess.run([jdk.home / "bin" / "jcmd", str(java.pid), "JFR.stop", "name=bench",
                        "filename=%s" % theirs], check=True, stdout=subprocess.DEVNULL)
    finally:
        java.kill()
        java.wait()


def report_size(jdk, theirs, ours):
    seen = {path: summary(jdk, path) for path in (theirs, ours)}
    samples = {path: count_samples(events) for path, events in seen.items()}
    bytes_ = sum(seen[ours].get(name, (0, 0))[1] for name in SAMPLES)
    say("  CpuMixed: %d samples in %d bytes by us, %d in %d by the JDK: %.2f of it "
        "(goal: at most 1)" % (
            samples[ours], ours.stat().st_size, samples[theirs], theirs.stat().st_size,
            ours.stat().st_size / theirs.stat().st_size))
    say("  event of a sample: %.1f bytes (goal: at most 24)" % (bytes_ / max(samples[ours], 1)))


PARTS = {"read": bench_read, "size": bench_size}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=2000000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--file", type=Path, default=BUILD / "bench" / "many.jfr")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    if set(options.parts) - set(PARTS):
        parser.error("parts are %s" % ", ".join(PARTS))

    found = jdks.find()
    if not found:
        say("bench: jfr not run: no JDK")
        return 0
    for part in options.parts or PARTS:
        PARTS[part](found, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
