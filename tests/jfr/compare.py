#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Reads recordings with jfr_totals and compares every number with what the JDK's own reader says.

usage: compare.py TOTALS FILE.expect.json...

Beside each NAME.expect.json lies NAME.jfr or NAME.jfr.gz. Kinds of expectations: "good" has
"summary" (as jfr summary prints it) and "totals"; "broken" has "readable", which is what must be
read at least, and "must" in words. The last line is "jfr: N passed, N failed, 0 skipped".
"""
import datetime
import json
import re
import resource
import subprocess
import sys
from pathlib import Path

LIMIT_S = 1.0  # for a broken file


def ns_of(text):
    """Nanoseconds since the epoch of 2026-11-29T21:45:16.166440141Z."""
    moment, fraction = re.match(r"(.*?)(?:\.(\d+))?Z$", text).groups()
    seconds = datetime.datetime.fromisoformat(moment + "+00:00").timestamp()
    return int(seconds) * 10**9 + int((fraction or "0").ljust(9, "0"))


class Comparison:
    def __init__(self):
        self.errors = []
        self.compared = 0

    def equal(self, what, got, expected, accept=()):
        self.compared += 1
        if got != expected and got not in accept:
            self.errors.append("%s: %s, expected %s" % (what, shorten(got), shorten(expected)))

    def near(self, what, got, expected):
        self.compared += 1
        if abs(got - expected) > 2:
            self.errors.append("%s: %s, expected %s" % (what, got, expected))

    def at_least(self, what, got, expected):
        self.compared += 1
        if got < expected:
            self.errors.append("%s: %s, expected %s or more" % (what, got, expected))


def shorten(value):
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) < 300 else text[:300] + "..."


def compare_good(c, got, expect):
    totals, accept = expect["totals"], expect.get("accept", {})
    if "summary" in expect:
        c.equal("types", got["types"], expect["summary"]["count_and_bytes"])
        c.equal("chunks", got["chunks"], expect["summary"]["chunks"])
        c.equal("seconds", (got["duration_ns"] + 5 * 10**8) // 10**9, expect["summary"]["duration_s"])
    c.equal("events", {name: row[0] for name, row in got["types"].items()
                       if name not in ("jdk.Metadata", "jdk.Checkpoint")}, totals["events"])
    c.equal("all events", got["events_all"], sum(totals["events"].values()))
    for key, value in totals["execution_samples"].items():
        c.equal(key, got["execution_samples_" + key], value)
    for key in ("native_samples_by_top_method", "alloc_sample_weight_by_class",
                "alloc_tlab_bytes_by_class", "exceptions_by_class", "monitor_wait_total_ns",
                "park_total_ns"):
        c.equal(key, got[key], totals[key])
    c.equal("monitor_enter by_class", got["monitor_enter_by_class"],
            totals["monitor_enter"]["by_class"])
    for group in ("gc", "monitor_enter", "stacks", "app_order"):
        for key, value in totals[group].items():
            if isinstance(value, int):
                c.equal("%s.%s" % (group, key), got["%s_%s" % (group, key)], value,
                        accept.get("totals.%s.%s" % (group, key), ()))
    c.equal("app_order.strings", got["app_order_strings"], totals["app_order"]["strings"])
    load = totals["cpu_load"]
    c.equal("cpu_load.samples", got["cpu_load_samples"], load["samples"])
    c.near("cpu_load.max", got["cpu_load_jvm_user_max_ppm"], int(max(load["jvm_user_max"], 0) * 1e6))
    if load["samples"]:
        c.near("cpu_load.avg", got["cpu_load_jvm_user_sum_ppm"] // load["samples"],
               int(load["jvm_user_avg"] * 1e6))
    threads = totals["threads"]
    c.equal("threads.names", sorted(got["threads"]), sorted(threads["names"]))
    c.equal("threads.virtual", sorted(got["virtual_threads"]), sorted(threads["virtual_names"]))
    c.equal("threads.active_max", got["threads_active_max"], threads["active_max"])
    c.equal("threads.peak_max", got["threads_peak_max"], threads["peak_max"])
    for key, name in (("first_event", "first_event_ns"), ("last_event", "last_event_ns")):
        c.equal(key, got[name], ns_of(totals["time"][key]))
    c.equal("lost", (got["bytes_lost"], got["events_damaged"], got["unfinished"]), (0, 0, 0))


def compare_broken(c, got, expect):
    readable = expect["readable"]
    for name, count in readable["events"].items():
        c.at_least(name, got["types"].get(name, [0])[0], count)
    for key, values in readable["execution_samples"].items():
        for name, count in values.items():
            c.at_least("%s %s" % (key, name), got["execution_samples_" + key].get(name, 0), count)
    for key, value in readable["gc"].items():
        c.at_least("gc.%s" % key, got["gc_" + key], value)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(totals, path):
    """What it did, and its seconds of CPU: those of the clock depend on what else runs."""
    before = cpu_seconds()
    done = subprocess.run([totals, path], capture_output=True, timeout=60, check=False)
    return done, cpu_seconds() - before


def compare_file(totals, expect_path):
    expect = json.loads(expect_path.read_text(encoding="utf-8"))
    stem = str(expect_path)[:-len(".expect.json")]
    path = next(p for p in (Path(stem + ".jfr"), Path(stem + ".jfr.gz")) if p.exists())
    done, seconds = run(totals, path)
    c = Comparison()
    says = done.stderr.decode()
    got = json.loads(done.stdout)
    if expect["kind"] == "good":
        c.equal("exit status", done.returncode, 0)
        c.equal("notices", says, "")
        compare_good(c, got, expect)
    else:
        c.at_least("exit status is one of its own", 1, done.returncode)
        c.equal("a notice", bool(says), True)
        if readable_total(expect):
            c.equal("names the offset", "offset" in says, True)
        compare_broken(c, got, expect)
        c.at_least("seconds under the limit", LIMIT_S, seconds)
    return c, says


def readable_total(expect):
    return sum(expect["readable"]["events"].values())


def main():
    totals, paths = sys.argv[1], [Path(p) for p in sys.argv[2:]]
    failed = 0
    for path in paths:
        c, says = compare_file(totals, path)
        failed += bool(c.errors)
        name = path.name[:-len(".expect.json")]
        print("%-7s %s: %d values%s" % ("FAILED" if c.errors else "ok", name, c.compared,
                                        "; " + says.splitlines()[0] if says else ""))
        for error in c.errors:
            print("    " + error)
    print("jfr: %d passed, %d failed, 0 skipped" % (len(paths) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
