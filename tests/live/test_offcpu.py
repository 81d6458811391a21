# SPDX-License-Identifier: Apache-2.0
"""Threads that do not run: how long, where, why, and who woke them."""
import os

from harness import expect
from suite import test
from test_convert import expect_totals
from test_jfr import print_events, tools

# Thread: what it waits for most of the time.
REASONS = {"sleeps": "futex", "waits": "futex", "notifies": "futex", "holds": "futex",
           "locks": "futex", "reads": "read", "writes": "futex"}


@test("off-CPU time", quick=[""], limit=120)
def offcpu(run):
    fifo, path = run.output(".fifo"), run.output(".jfr")
    os.mkfifo(fifo)
    # Both ends are opened here first, or each of the program's would wait for the other.
    ends = os.open(fifo, os.O_RDWR)
    try:
        jvm = run.java("Blocks", 5, fifo, wait=True, hold=1)
        recording, truth = run.record_all(jvm, "-e", "offcpu", "--max-overhead", "none", "-f", path)
    finally:
        os.close(ends)
    for name, reason in REASONS.items():
        samples = list(recording.samples("offcpu", name=name))
        seen = sum(s.value for s in samples)
        expect(0.97 * truth[name] <= seen <= 1.03 * truth[name],
               "%s: %.1f ms off CPU, %.1f in truth" % (name, seen / 1e6, truth[name] / 1e6))
        # Each waits in the method of its name; a little time goes by around it.
        where = sum(s.value for s in samples if s.has("Blocks." + name) or name in ("reads", "writes"))
        expect(where >= 0.97 * seen, "%s: %.1f %% of the time elsewhere" % (
            name, 100 - 100 * where / seen))
        why = sum(s.value for s in samples if s.label == reason)
        expect(why >= 0.9 * seen, "%s: %.1f %% of the time because of %s: %s" % (
            name, 100 * why / seen, reason, {s.label for s in samples}))
        run.note("%s %.1f %%" % (name, 100 * seen / truth[name]))
    for sleeper, waker in (("waits", "notifies"), ("locks", "holds")):
        woken = list(recording.samples("wakeup", name=sleeper))
        by = sum(s.value for s in woken if s.label == waker)
        expect(by >= 0.9 * sum(s.value for s in woken), "%s: woken by %s" % (
            sleeper, {s.label: s.value for s in woken}))
    expect_totals(run, recording, path, ["offcpu", "wakeup"])
    for tool in tools():
        events = print_events(tool, path, "jvmscope.OffCpu")
        expect(any(fields["reason"] == "futex" and "Blocks.waits" in methods
                   for _, fields, methods in events), "%s: not where it waits" % tool.jdk)
