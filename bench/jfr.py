#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What reading a large JFR file costs, beside the JDK's own "jfr summary" on the same file in the same
run. The file is recorded by the JDK when it is not there yet, which takes about a minute.

usage: jfr.py [--rounds 5] [--events 1700000] [FILE]

CPU seconds are of user and system together, the median of the rounds; the exit status says only
whether measuring worked.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import jdks  # noqa: E402

BUILD = jdks.BUILD
GOALS = {"all totals": "at most 0.5 s, 64 MiB", "walk by size": "at least 3 GB/s"}


def say(text):
    print(text, flush=True)


def measure(command):
    """(seconds of CPU, peak memory in MiB) of a command."""
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit("bench: %s: status %d" % (command[0], child.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def make_file(path, jdk, events):
    classes = BUILD / "bench" / "jfr"
    classes.mkdir(parents=True, exist_ok=True)
    subprocess.run([jdk.javac, "-nowarn", "--release", "11", "-d", classes,
                    ROOT / "bench" / "java" / "ManyEvents.java"], check=True)
    subprocess.run([jdk.java, "-Xmx512m", "-cp", classes, "ManyEvents", path, str(events)], check=True,
                   env={"LC_ALL": "C.UTF-8"})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=1700000)
    parser.add_argument("file", nargs="?", type=Path, default=BUILD / "bench" / "many.jfr")
    options = parser.parse_args()

    found = jdks.find()
    if not options.file.exists():
        if not found:
            say("bench: jfr not run: no JDK")
            return 0
        options.file.parent.mkdir(parents=True, exist_ok=True)
        make_file(options.file, found[0], options.events)
    size = options.file.stat().st_size
    totals = BUILD / "jfr_totals"
    say("bench: %s, %.1f MB, load average %.1f before" % (options.file.name, size / 1e6,
                                                         os.getloadavg()[0]))
    with tempfile.TemporaryDirectory() as folder:
        rows = {
            "all totals": [totals, options.file],
            "walk by size": [totals, "--walk", options.file],
            "convert to collapsed": [BUILD / "jvmscope", "convert", "-q", options.file, "-o",
                                     Path(folder) / "out.collapsed"],
            "convert to JFR": [BUILD / "jvmscope", "convert", "-q", options.file, "-o",
                               Path(folder) / "out.jfr"],
        }
        for jdk in found:
            rows["jfr summary of %s" % jdk] = [jdk.home / "bin" / "jfr", "summary", options.file]
        seen = {name: [] for name in rows}
        for _ in range(options.rounds):
            for name, command in rows.items():
                seen[name].append(measure(command))
    report(seen, size)
    return 0


def report(seen, size):
    cpu = {name: statistics.median(row[0] for row in rows) for name, rows in seen.items()}
    judges = [value for name, value in cpu.items() if name.startswith("jfr summary")]
    for name, rows in seen.items():
        text = "%-26s %.3f s of CPU [%.3f..%.3f], %.2f GB/s, %.1f MiB" % (
            name + ":", cpu[name], min(row[0] for row in rows), max(row[0] for row in rows),
            size / 1e9 / max(cpu[name], 1e-3), max(row[1] for row in rows))
        if judges and not name.startswith("jfr summary"):
            text += ", %.2f of jfr summary" % (cpu[name] / min(judges))
        say(text + (" (goal: %s)" % GOALS[name] if name in GOALS else ""))


if __name__ == "__main__":
    sys.exit(main())
