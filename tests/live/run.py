#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs the live tests: JVMs whose behaviour is known are recorded, and the recordings judged.

usage: run.py [--quick | --full | --soak | --vm | --jdks ROOT] [--jdk 17,25] [--list] [--compile] [NAME]...

NAME is a test, or the first words of one ("deep", "exit status"). The last line is
"live: N passed, N failed, N skipped"; the exit status is 0 only when nothing failed. Where the
kernel does not let us load BPF programs the tests are skipped, never passed.
"""
import argparse
import importlib
import signal
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import jdks  # noqa: E402
import kernel  # noqa: E402
import suite  # noqa: E402
from harness import PATIENCE, SCOPE, Failure, Run, Skip  # noqa: E402


class Timeout(Exception):
    pass


def on_alarm(_number, _frame):
    raise Timeout()


def load_tests():
    for path in sorted(HERE.glob("test_*.py")):
        importlib.import_module(path.stem)
    return suite.TESTS


def attempt(run, job):
    """Returns (result, text) with result "ok", "FAILED" or "skipped"."""
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(job.limit * PATIENCE)
    try:
        job.function(run, **job.arguments)
        return "ok", "; ".join(run.notes)
    except Skip as reason:
        return "skipped", str(reason)
    except Failure as failure:
        return "FAILED", "%s%s" % (failure, "".join("\n  so far: " + note for note in run.notes))
    except Timeout:
        return "FAILED", "not done in %d s" % job.limit
    except Exception:  # pylint: disable=broad-except
        return "FAILED", traceback.format_exc()
    finally:
        signal.alarm(0)


def run_one(job):
    run = Run(job.jdk, job.name)
    try:
        result, text = attempt(run, job)
        if result == "FAILED":
            text += "\n  kept in %s" % run.keep()
        return result, text
    finally:
        run.close()


def run_jobs(jobs):
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    for job in jobs:
        started = time.monotonic()
        result, text = ("skipped", job.skip) if job.skip else run_one(job)
        counts[result] += 1
        job.result = result
        print("%-7s %s (%.1f s)%s" % (result, job.name, time.monotonic() - started,
                                      ": " + text if text else ""), flush=True)
    return counts


def print_table(jobs, found):
    """The support table: a row for each JDK, a column for each test."""
    columns = list(dict.fromkeys(job.title for job in jobs))
    cells = {(job.jdk.major, job.title): job.result for job in jobs}
    print("\n| JDK | %s |" % " | ".join(columns))
    print("|---" * (len(columns) + 1) + "|")
    for jdk in found:
        row = [cells.get((jdk.major, column), "-") for column in columns]
        print("| %s | %s |" % (jdk.version, " | ".join(row)))
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_const", const="quick", dest="mode")
    parser.add_argument("--full", action="store_const", const="full", dest="mode")
    parser.add_argument("--soak", action="store_const", const="soak", dest="mode")
    parser.add_argument("--vm", action="store_const", const="vm", dest="mode")
    parser.add_argument("--jdks", metavar="ROOT", help="also the JREs in ROOT, see scripts/jdks.sh")
    parser.add_argument("--compile", action="store_true", help="compiles the programs and ends")
    parser.add_argument("--jdk", help="major versions, with commas; all that are found")
    parser.add_argument("--list", action="store_true", help="names the tests and ends")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    # nohup may have started the tests, and what ignores a signal hands that down.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Ignored where a shell has put us in the background, and JVMs then ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    tests = load_tests()
    found = jdks.find()
    mode = options.mode or ("full" if options.names else "quick")
    if options.jdks:
        mode = "jdks"
        jdks.compile_all(found)
        found = sorted(found + jdks.find_in_root(options.jdks), key=lambda jdk: jdk.major)
    if options.jdk:
        wanted = {int(major) for major in options.jdk.split(",")}
        found = [jdk for jdk in found if jdk.major in wanted]
    jobs = suite.jobs(tests, found, mode, options.names)
    if options.list:
        print("\n".join(job.name for job in jobs))
        return 0

    if options.compile:
        jdks.compile_all(found)
        return 0

    print("live: JDKs: %s" % (", ".join("%s %s in %s" % (jdk.major, jdk.version, jdk.home)
                                        for jdk in found) or "none"), flush=True)
    reason = None
    if not SCOPE.exists():
        print("live: %s is not there: run make first" % SCOPE)
        return 1
    if not found:
        reason = "no JDK with a compiler found"
    else:
        jdks.compile_all(found)
        reason = kernel.why_not()
    for job in jobs:
        if reason and (job.needs_bpf or not found):
            job.skip = reason
    counts = run_jobs(jobs)
    if options.jdks:
        print_table(jobs, found)
    print("live: %(ok)d passed, %(FAILED)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
