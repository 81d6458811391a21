# SPDX-License-Identifier: Apache-2.0
"""Threads that start and end, exceptions, compilations."""
from harness import expect
from recording import total
from suite import test
from test_convert import expect_rows, expect_totals
from test_jfr import tools
from test_locks import FLAGS

THREADS, EXCEPTIONS = 200, 100


def check_threads(recording, threads):
    events = recording.raw["thread_events"]
    names = [recording.threads[event["thread"]]["name"] for event in events]
    for kind in ("start", "end"):
        mine = [event for event, name in zip(events, names)
                if event["event"] == kind and name.startswith("event-")]
        expect(len(mine) == threads, "%d threads %s, %d in truth" % (len(mine), kind, threads))
    for event, name in zip(events, names):
        if event["event"] != "start" or not name.startswith("event-"):
            continue
        expect(event["stack"] is not None, "%s: without the stack of who started it" % name)
        stack = [recording.frames[frame].method for frame in recording.raw["stacks"][event["stack"]]]
        expect("Events.begin" in stack, "%s: started by %s" % (name, stack))
        # Where the collector moves objects at any time the kernel's name of it may be all there is.
        parent = recording.threads[event["parent"]]["name"]
        expect(parent in ("main", "java"), "%s: by %s" % (name, parent))


@test("threads and exceptions", quick=["G1"], params={
    name: {"flags": flags} for name, flags in FLAGS.items()}, jdks=["G1"])
def runtime(run, flags):
    jvm = run.java("Events", THREADS, EXCEPTIONS, flags=flags, wait=True, hold=1)
    recording, truth = run.record_all(jvm, "-e", "thread,exception,jit", "--max-overhead", "none")
    thrown = [s for s in recording.samples("exception") if s.label == "Events$Thrown"]
    expect(total(thrown) == truth["exceptions"], "%d exceptions, %d in truth" % (
        total(thrown), truth["exceptions"]))
    odd = [s for s in thrown if not s.has("Events.fail") or not s.is_complete]
    expect(not odd, "exceptions of another place: %s" % [s.text() for s in odd[:2]])
    check_threads(recording, truth["threads"])
    done = recording.raw.get("compilations", [])
    expect(all(task["method"] for task in done), "compilations of methods without a name")
    if "-Xint" not in flags:
        expect(done, "no compilation")
    run.note("%d exceptions, %d compilations" % (total(thrown), len(done)))


@test("threads and exceptions in JFR", quick=[""])
def runtime_in_jfr(run):
    jvm = run.java("Events", THREADS, EXCEPTIONS, wait=True, hold=1)
    path = run.output(".jfr")
    recording, _ = run.record_all(jvm, "-e", "thread,exception,jit", "--max-overhead", "none",
                                  "-f", path)
    events = recording.raw["thread_events"]
    wanted = {"jdk.ThreadStart": sum(event["event"] == "start" for event in events),
              "jdk.ThreadEnd": sum(event["event"] == "end" for event in events),
              "jdk.JavaExceptionThrow": total(recording.samples("exception")),
              "jdk.Deoptimization": total(recording.samples("deoptimization")),
              "jdk.Compilation": len(recording.raw.get("compilations", []))}
    for tool in tools():
        counts, _ = tool.summary(path)
        got = {name: counts.get(name, 0) for name in wanted}
        expect(got == wanted, "%s: %s, not %s" % (tool.jdk, got, wanted))
        if tool.jdk.major < 21:
            continue
        for view, words in (("exception-by-type", ["Events$Thrown"]),
                            ("exception-count", [str(wanted["jdk.JavaExceptionThrow"])]),
                            ("thread-start", ["java.lang.Thread.start", "event-"]),
                            ("longest-compilations", ["true"])):
            text = tool.run("view", "--width", "200", view, path)
            expect(all(word in text.replace(",", "") for word in words),
                   "%s of %s: %s" % (view, tool.jdk, text))
    expect_totals(run, recording, path, ["exception", "deoptimization"])
    for section in ("thread_events", "compilations"):
        expect_rows(run, recording, path, section)
    run.note(str(wanted))
