# SPDX-License-Identifier: Apache-2.0
"""Class loads: what a program got defined, what its agents did to it, and who defines it."""
import json
import re
import signal
import subprocess
import time
import zipfile
from collections import Counter

import jdks
from harness import Jvm, Skip, expect, wait_until
from suite import test

LOST = ("ring_full", "slot_busy")


class Classes:
    """The section "classes" of a recording of one JVM."""

    def __init__(self, recording):
        self.recording = recording
        self.raw = recording.raw["classes"]
        self.events = self.raw["events"]
        self.jvm = self.raw["jvms"][0]
        self.counts = self.jvm["counts"]

    def named(self, prefix):
        return [event for event in self.events if event["name"].startswith(prefix)]

    @property
    def lost(self):
        return sum(self.counts[name] for name in LOST)

    def check(self, lossless=True):
        """Every real load is listed, ignored by a rule, or lost."""
        counts = self.counts
        expect(counts["loaded"] == counts["listed"] + counts["ignored"] + counts["counted"] +
               self.lost,
               "loads do not add up: %s" % counts)
        expect(counts["ignored"] == sum(rule["loaded"] for rule in self.raw["by_rule"]),
               "ignored %d, by rule %s" % (counts["ignored"], self.raw["by_rule"]))
        if lossless:
            bad = {name: counts[name] for name in (*LOST, "unloads_lost", "events_lost", "unnamed",
                                                   "unreadable", "stacks_lost")
                   if counts[name]}
            expect(not bad, "lost: %s" % bad)
            expect(len(self.events) + self.raw["not_listed"] == counts["listed"],
                   "%d events, listed %d" % (len(self.events), counts["listed"]))
        return self

    def stack(self, index):
        return [self.recording.frames[frame].method for frame in self.recording.raw["stacks"][index]]


def jar(run, agent):
    """
    A jar that makes a program of tests/java an agent; its classes are on the class path. Returns
    its path as java sees it.
    """
    path = run.for_java(agent + ".jar")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF",
                         "Premain-Class: %s\nAgent-Class: %s\nCan-Retransform-Classes: true\n"
                         % (agent, agent))
    return run.jdk.inside(path)


def attached(run, program, *arguments, filter_mode="off", options=(), **more):
    """Attaches before the program does its work; returns its classes and its truth."""
    jvm = run.java(program, *arguments, wait=True, hold=1, **more)
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-e", "class", "--max-overhead", "none", "--filter",
                      filter_mode, "-q", *options, "-f", path)
    run.wait_recording(scope)
    jvm.go()
    truth = jvm.truth()
    return Classes(run.finish(scope, path, 60)), truth


def started(run, command, filter_mode="off", options=()):
    """The recorder starts the program; returns its classes and its truth."""
    path = run.output()
    scope = run.scope("record", "-e", "class", "--max-overhead", "none", "--filter", filter_mode,
                      "-q", *options, "-f", path, "--", *command)
    scope.line("TRUTH", 120)
    recording = run.finish(scope, path, 60)
    line = next(line for line in scope.out if line.startswith("TRUTH"))
    return Classes(recording), json.loads(line[6:])


# ---- loads and unloads

PREFIXES = {"lambda": "ClassStorm$Template/", "unload": "gen.", "leak": "gen.", "dup": "dup.",
            "race": "race.", "reuse": "re."}


@test("class loads", params={
    "of hidden classes": {"mode": "lambda", "count": 10000},
    "and unloads": {"mode": "unload", "count": 200},
    "that stay": {"mode": "leak", "count": 300},
    "of one name": {"mode": "dup", "count": 200},
    "by eight threads at once": {"mode": "race", "count": 100},
    "at addresses used again": {"mode": "reuse", "count": 40},
}, quick=["and unloads", "of one name"], modes=("full", "jdks"))
def loads(run, mode, count):
    if mode == "lambda" and run.jdk.major < 15:
        raise Skip("this JDK has no hidden classes")
    classes, truth = attached(run, "ClassStorm", mode, str(count))
    classes.check()
    mine = classes.named(PREFIXES[mode])
    expect(len(mine) == truth["defined"], "%d loads, %d defined" % (len(mine), truth["defined"]))
    gone = sum(1 for event in mine if event["end_time_ns"])
    wanted = truth["defined"] if mode in ("unload", "reuse") else 0
    expect(gone == wanted, "%d of %d unloaded, %d wanted" % (gone, len(mine), wanted))
    loaders = {event["loader_id"] for event in mine}
    wanted = {"lambda": 1, "race": 1, "reuse": 10 * count}.get(mode, count)
    expect(len(loaders) == wanted, "%d loaders, %d wanted" % (len(loaders), wanted))
    rows = [classes.raw["loaders"][index] for index in loaders]
    if mode != "lambda":
        names = {row["name"] for row in rows}
        expect(len(names) == wanted and {row["class"] for row in rows} == {"ClassMaker$Loader"},
               "loaders %s" % sorted(map(str, names))[:3])
    sites = [site for site in classes.raw["sites"] if site["pattern"] in
             {"lambda": ["ClassStorm$Template"], "dup": ["dup.Same"], "race": ["race.C#"],
              "reuse": ["re.C#"]}.get(mode, ["gen.p#.C#"])]
    sums = (sum(site["loaded"] for site in sites), sum(site["unloaded"] for site in sites))
    # The template of hidden classes is of their kind, too.
    expect(sums == (len(mine) + (mode == "lambda"), gone), "sites %s of %d loads" % (sums, len(mine)))
    expect(len(sites) <= 60, "%d sites" % len(sites))
    expect(all("ClassStorm.main" in classes.stack(site["stack"]) for site in sites)
           or mode == "race", "a stack without ClassStorm.main")
    attempts = classes.counts["notified"] - classes.counts["loaded"]
    run.note("%d loads, %d unloads, %d attempts more, %d addresses of %d loaders"
             % (len(mine), gone, attempts, len({row["address"] for row in rows}), len(rows)))


@test("class loads in JFR")
def in_jfr(run):
    file = run.output(".jfr")
    classes, truth = attached(run, "ClassStorm", "unload", "50", options=("-f", file))
    tool = str(run.jdk.home / "bin" / "jfr")
    summary = subprocess.run([tool, "summary", file], capture_output=True, text=True, check=True)
    counts = dict(re.findall(r"^ (\S+) +(\d+) ", summary.stdout, re.M))
    got = [int(counts.get(name, 0)) for name in ("jdk.ClassLoad", "jdk.ClassDefine",
                                                 "jdk.ClassUnload", "jvmscope.ClassFile")]
    wanted = [len(classes.events)] * 2 + [truth["defined"], len(classes.events)]
    expect(got == wanted, "events %s, %s wanted" % (got, wanted))
    printed = subprocess.run([tool, "print", "--events", "jdk.ClassUnload", file],
                             capture_output=True, text=True, check=True).stdout
    expect(printed.count("unloadedClass = gen.p") == truth["defined"] and
           "ClassMaker$Loader" in printed, "unloads: %s" % printed[:300])


# As ClassStorm has them: standard output need not have such characters.
NAMES = ["na.\u00e9\u4e2d\U0001f600", "na." + "a" * 700, "na." + "\u4e2d" * 20000]


@test("class names of all lengths", quick=True, modes=("full", "jdks", "vm"))
def names(run):
    classes, _ = attached(run, "ClassStorm", "names")
    got = [event["name"] for event in classes.check().named("na.")]
    expect(got == NAMES, "names %s" % [ascii(name[:20]) for name in got])


@test("100,000 classes", limit=240)
def many(run):
    classes, truth = attached(run, "ClassStorm", "many", "100000")
    classes.check(lossless=False)
    mine = len(classes.named("many."))
    lost = truth["defined"] - mine
    expect(0 <= lost <= truth["defined"] / 1000, "%d of %d lost" % (lost, truth["defined"]))
    expect(classes.lost >= lost, "%d lost, %d counted" % (lost, classes.lost))
    run.note("%d in %.1f s, %d lost, own RSS %d MiB, maps %d MiB" % (
        mine, truth["took_ns"] / 1e9, lost, classes.recording.quality["own_rss_bytes"] >> 20,
        classes.recording.quality["own_map_bytes"] >> 20))


@test("class loads that are lost are counted", quick=True)
def losses(run):
    jvm = run.java("ClassStorm", "many", "20000", wait=True, hold=1)
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-e", "class", "--max-overhead", "none", "-q",
                      "--ring-size", "64k", "-f", path)
    run.wait_recording(scope)
    scope.signal(signal.SIGSTOP)
    jvm.go()
    truth = jvm.truth()
    scope.signal(signal.SIGCONT)
    classes = Classes(run.finish(scope, path, 60)).check(lossless=False)
    mine = len(classes.named("many."))
    expect(classes.lost > 0, "nothing was lost")
    others = mine + classes.lost - truth["defined"]
    expect(0 <= others <= 3, "%d listed, %d lost, %d defined" % (mine, classes.lost,
                                                                truth["defined"]))
    run.note("%d listed, %d lost, %d defined" % (mine, classes.lost, truth["defined"]))


@test("class loads over the budget", limit=240)
def budget(run):
    jvm = run.java("ClassStorm", "many", "100000", wait=True, hold=40)
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-e", "class", "--filter", "off", "--max-overhead", "0.5",
                      "-q", "-f", path)
    run.wait_recording(scope)
    jvm.go()
    truth = jvm.truth()
    wait_until(lambda: jvm.process.poll() is not None, 60, "the program does not end", 0.5)
    recording = run.finish(scope, path, 60)
    classes = Classes(recording).check(lossless=False)
    rows = [row for row in recording.raw["budget"]["jvms"] if row["group"] == "class"]
    changes = recording.raw["budget"]["events"]
    expect(len(rows) == 1 and rows[0]["limit_pct"] == 0.5, "budget %s" % rows)
    expect(changes and changes[0]["from"] == "exact" and changes[0]["to"] != "exact" and
           all(change["group"] == "class" for change in changes), "events %s" % changes)
    expect(rows[0]["coverage"] < 1 and not rows[0]["live_known"] and
           classes.counts["counted"] > 0, "coverage %s" % rows)
    expect(rows[0]["total_cost_pct"] <= 1, "the mean cost %s" % rows)
    # Nothing is loaded while the program holds.
    expect(rows[0]["state"] in ("exact", "sampled"), "it did not recover: %s" % changes)
    run.note("%s, %d of %d counted, %d listed" % (
        " ".join(change["to"] for change in changes), classes.counts["loaded"], truth["defined"],
        len(classes.named("many."))))


# ---- the first second

def logged(path):
    """(name, source) of each line of -Xlog:class+load."""
    lines = path.read_text(errors="replace").splitlines()
    found = [re.search(r"\] (\S+) source: (.*)", line) for line in lines]
    return [(match[1], match[2]) for match in found if match]


def application(run):
    """The program as a jar: an archive of classes in a folder is refused."""
    path = run.folder / "app.jar"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("Truth", "ClassMaker", "ClassMaker$Loader", "ClassStorm",
                     "ClassStorm$Template"):
            file.write(jdks.LIVE / "classes" / "11" / (name + ".class"), name + ".class")
    return path


def archive(run):
    """Flags for an archive of what the program loads; None where the JDK cannot make one."""
    path = run.folder / "app.jsa"
    jar_flags = ("-cp", application(run))
    command = run.java_command("ClassStorm", "jdk", flags=("-XX:ArchiveClassesAtExit=%s" % path,))
    maker = run.track(Jvm(with_class_path(command, jar_flags)))
    maker.wait(60)
    return jar_flags if path.exists() else None


def with_class_path(command, flags):
    at = command.index("-cp")
    return [*command[:at], *flags, *command[at + 2:]]


@test("class loads from the first on", params={
    "with CDS": {"flag": "-Xshare:auto"},
    "without CDS": {"flag": "-Xshare:off"},
    "with an archive of the application": {"flag": None},
}, quick=["with CDS"], jdks=["with CDS", "without CDS"])
def first(run, flag):
    class_path = None
    if flag is None:
        class_path = archive(run)
        expect(class_path or run.jdk.major < 13, "no archive was made")
        if not class_path:
            raise Skip("this JDK makes no archive of an application")
        flag = "-XX:SharedArchiveFile=%s" % (run.folder / "app.jsa")
    log = run.for_java("classes.log")
    command = run.java_command("ClassStorm", "jdk", flags=(
        flag, "-Xlog:class+load:file=%s" % run.jdk.inside(log)))
    if class_path:
        command = with_class_path(command, class_path)
    classes, truth = started(run, command)
    classes.check()
    lines = logged(log)
    plain = Counter(re.sub(r"/0x[0-9a-f]+", "", event["name"]) for event in classes.events)
    wanted = Counter(re.sub(r"/0x[0-9a-f]+", "", name) for name, _ in lines)
    # The log has attempts, too: what it has twice may be one class.
    expect(set(plain) == set(wanted), "only in the log %s, not in it %s" % (
        sorted(set(wanted) - set(plain))[:5], sorted(set(plain) - set(wanted))[:5]))
    order = [event["name"] for event in classes.events]
    expect(order[:10] == [name for name, _ in lines[:10]], "the first: %s" % order[:10])
    archived = {event["name"] for event in classes.events if event["archived"]}
    shared = {name for name, source in lines if source.startswith("shared objects file")}
    expect(not class_path or "ClassStorm" in archived, "the application is not in the archive")
    expect(archived == shared, "archived %d, in the log %d" % (len(archived), len(shared)))
    jdk = [event for event in classes.named("java.util.concurrent.")]
    expect(len(jdk) >= truth["defined"], "%d of java.util.concurrent, %d asked for" % (
        len(jdk), truth["defined"]))
    start = classes.jvm["start_to_main_ns"]
    expect(start and 0 < start < 60e9, "start to main %s" % start)
    run.note("%d classes, %d archived, main after %.2f s" % (
        len(classes.events), len(archived), start / 1e9))


def check_phases(event):
    phases = event["phases_ns"]
    verify, rewrite, link = (phases[name] for name in ("verify", "rewrite", "link"))
    expect(not (verify or rewrite) or (verify or 0) + (rewrite or 0) <= link, "linking: %s" % event)
    expect(phases["initialize"] is None or
           0 <= phases["initialize_self"] <= phases["initialize"], "initializing: %s" % event)


@test("phases of class loads", quick=True, modes=("full", "jdks"))
def phases(run):
    # With a path of its own the boot loader looks for classes that other loaders find.
    flags = ("-Xshare:off", "-Xbootclasspath/a:%s" % run.folder)
    classes, _ = started(run, run.java_command("ClassStorm", "jdk", flags=flags))
    classes.check()
    for event in classes.events:
        check_phases(event)
    late = [event for event in classes.events if event["time_ns"] > classes.jvm["main_time_ns"]]
    # JDK 11 makes nameless classes, whose source is a class: they come from no file.
    read = [event for event in late if event["loader"] is None and not event["hidden"] and
            "/" in (event["source"] or "")]
    expect(len(read) > 50 and all(event["phases_ns"]["read"] for event in read),
           "read by the boot loader, in no time: %s" % [
               event["name"] for event in read if not event["phases_ns"]["read"]][:5])
    others = [event["name"] for event in classes.events
              if event["loader"] is not None and event["phases_ns"]["read"]]
    expect(not others, "read by the boot loader, and of another: %s" % others[:5])
    initialized = [event for event in late if event["phases_ns"]["initialize"]]
    expect(initialized and all(event["phases_ns"]["link"] for event in initialized),
           "initialized and not linked: %s" % [
               event["name"] for event in initialized if not event["phases_ns"]["link"]][:5])
    mine = classes.named("ClassStorm")[0]["phases_ns"]
    expect(all(mine[name] for name in ("parse", "verify", "rewrite", "link", "initialize")),
           "of the program itself: %s" % mine)
    sums = Counter()
    for event in classes.events:
        sums.update({name: took or 0 for name, took in event["phases_ns"].items()})
    run.note(", ".join("%s %.1f ms" % (name, took / 1e6) for name, took in sums.items()))


def span_ns(text):
    """Nanoseconds of a time span as "jfr print --json" has them: PT1M0.00025S."""
    match = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", text)
    expect(match, "no time span: %s" % text)
    hours, minutes, seconds = (int(match[at] or 0) for at in (1, 2, 3))
    return ((hours * 60 + minutes) * 60 + seconds) * 10**9 + int((match[4] or "0").ljust(9, "0"))


def plain_name(name):
    """Hidden classes have other signs in both, and one name is many classes'."""
    return re.sub(r"[+./]0x[0-9a-f]+$", "", name)


def printed_phases(run, path):
    """(class, ns of each phase) of the events of a file, as the JDK's tool reads them."""
    done = subprocess.run([run.jdk.home / "bin" / "jfr", "print", "--json", "--events",
                           "jvmscope.ClassFile,jvmscope.ClassLink,jvmscope.ClassInitialize", path],
                          capture_output=True, text=True, check=True, timeout=60)
    found = Counter()
    for event in json.loads(done.stdout)["recording"]["events"]:
        values = event["values"]
        name, keys = {
            "jvmscope.ClassFile": ("definedClass", ("read", "parse", "transform")),
            "jvmscope.ClassLink": ("linkedClass", ("verify", "rewrite", "duration")),
            "jvmscope.ClassInitialize": ("initializedClass", ("duration", "self")),
        }[event["type"]]
        found[(event["type"], plain_name(values[name]["name"].replace("/", ".")),
               *(span_ns(values[key]) for key in keys))] += 1
    return found


@test("phases of class loads in JFR")
def phases_in_jfr(run):
    """Linked and initialized may be long after loaded, in another segment: all is there once."""
    path = run.output(".jfr")
    classes, _ = started(run, run.java_command("ClassStorm", "jdk", flags=("-Xshare:off",)),
                         options=("--chunk", "1s", "-f", path))
    wanted = Counter()
    for event in classes.check().events:
        phases = event["phases_ns"]
        read, parse, transform, verify, rewrite, link, initialize, own = (
            phases[name] or 0 for name in ("read", "parse", "transform", "verify", "rewrite", "link",
                                           "initialize", "initialize_self"))
        wanted[("jvmscope.ClassFile", plain_name(event["name"]), read, parse, transform)] += 1
        if link:
            wanted[("jvmscope.ClassLink", plain_name(event["name"]), verify, rewrite, link)] += 1
        if initialize:
            wanted[("jvmscope.ClassInitialize", plain_name(event["name"]), initialize, own)] += 1
    found = printed_phases(run, path)
    expect(found == wanted, "in JFR alone %s, missing %s" % (
        list((found - wanted).items())[:3], list((wanted - found).items())[:3]))
    run.note("%d events" % sum(found.values()))


# ---- agents

def sizes(event, truth):
    """Bytes before and after the agent; the truth has those of app.C0."""
    before = truth["bytes"] + len(event["name"]) - len("app.C0")
    return before, before + (truth["bytes_more"] if event["name"].startswith("app.") else 0)


@test("classes and an agent", params={
    "none": {"option": None},
    "that copies": {"option": "app/"},
    "that adds constants": {"option": "app/+200"},
}, quick=["that adds constants"], modes=("full", "jdks"))
def agent(run, option):
    flags = () if option is None else ("-javaagent:%s=%s" % (jar(run, "ApmLike"), option),)
    classes, truth = started(run, run.java_command("ApmLike", "500", "2", flags=flags))
    classes.check()
    app, lib = classes.named("app."), classes.named("lib.")
    expect((len(app), len(lib)) == (truth["defined"],) * 2, "%d app, %d lib" % (len(app), len(lib)))
    for event in app + lib:
        before, after = sizes(event, truth)
        expect((event["bytes"], event["bytes_after"]) == (before, after), "bytes of %s" % event)
    expect(all(event["phases_ns"]["parse"] > 0 and event["duration_ns"] > 0 for event in app + lib),
           "a class without time")
    changed = [event for event in classes.events
               if any(one["transformed"] for one in event["agents"])]
    again = classes.raw["redefinitions"]
    expect(len(again) == truth["redefined"] == classes.counts["redefined"],
           "%d redefined, %d wanted" % (len(again), truth["redefined"]))
    expect(classes.counts["transformed"] == truth["transformed"], "transformed %d of %d" % (
        classes.counts["transformed"], truth["transformed"]))
    if option is None:
        expect(not changed and not classes.counts["hooked"], "changed without an agent")
        return
    expect({event["name"] for event in changed} == {event["name"] for event in app},
           "changed: %d" % len(changed))
    expect(all(event["phases_ns"]["transform"] > 0 for event in app + lib + again),
           "an agent that takes no time")
    facts = [event["agents"][0]["change"] for event in app + again]
    expect(all(facts), "%d changes are not known" % facts.count(None))
    more = 1 if truth["bytes_more"] else 0
    expect(all(fact["after"]["constants"] - fact["before"]["constants"] == more and
               (fact["before"]["bytes"], fact["after"]["bytes"]) == sizes(event, truth)
               for fact, event in zip(facts, app + again)), "constants: %s" % facts[0])
    expect(len(classes.jvm["agents"]) == 1 and classes.jvm["agents"][0]["premain_ns"] > 0 and
           classes.jvm["agents"][0]["option"].endswith("=" + option), "%s" % classes.jvm["agents"])
    expect(classes.jvm["first_hook_time_ns"], "no time of the first hook")
    run.note("%d looked at, %d changed, premain %.1f ms" % (
        classes.counts["hooked"], len(changed), classes.jvm["agents"][0]["premain_ns"] / 1e6))


@test("classes an agent initializes before main", quick=True, modes=("full", "jdks"))
def early(run):
    flag = "-javaagent:%s=app/!" % jar(run, "ApmLike")
    classes, _ = started(run, run.java_command("ApmLike", "1", "0", flags=(flag,)),
                         filter_mode="mark")
    names_of = {row["name"] for row in classes.raw["initialized_by_agents"]}
    expect("java.util.logging.LogManager" in names_of, "initialized: %s" % sorted(names_of)[:9])
    flag = flag[:-1]
    classes, _ = started(run, run.java_command("ApmLike", "1", "0", flags=(flag,)),
                         filter_mode="mark")
    names_of = {row["name"] for row in classes.raw["initialized_by_agents"]}
    expect("java.util.logging.LogManager" not in names_of, "initialized without")
    expect(classes.raw["by_rule"] and not classes.named("java."), "JDK classes are listed")


@test("what an agent did to methods", quick=True, modes=("full", "vm", "jdks"))
def methods(run):
    flag = "-javaagent:%s" % jar(run, "CallAgent")
    classes, truth = started(run, run.java_command("CallAgent", flags=(flag,)))
    event = classes.check().named("CallWork")[0]
    change = event["agents"][0]["change"]
    got = {(row["name"], row["signature"]): row for row in change["methods"]}
    expect(set(got) == {(row["name"], row["signature"]) for row in truth["methods"]},
           "methods %s" % sorted(got))
    for fact in truth["methods"]:
        row = got[fact["name"], fact["signature"]]
        for key, field in (("code", "code_bytes"), ("stack", "max_stack"),
                           ("locals", "max_locals")):
            pair = [row["before"][field], row["after"][field]]
            expect(pair == fact[key], "%s: %s %s, not %s" % (fact["name"], field, pair, fact[key]))
        calls = (row["calls_added"], row["invokestatic_at_entry"], row["invokestatic_at_exit"])
        expect(calls == (1 + fact["exits"], 1, fact["exits"]), "%s: calls %s" % (fact, calls))
        expect((row["before"]["stack_map_entries"], row["after"]["stack_map_entries"]) ==
               (fact["frames"],) * 2 and row["stack_map_recomputed"] == (fact["frames"] > 0),
               "%s: frames %s" % (fact, row))
    expect(change["methodrefs_added"] == 2 and change["after"]["methodrefs"] ==
           change["before"]["methodrefs"] + 2, "methodrefs %s" % change)
    run.note("%d methods" % len(got))


AGENT = jdks.LIVE / "natives" / "libagent.so"


def agent_facts(row):
    return tuple(row[name] for name in ("kind", "name", "options", "path", "option", "dynamic"))


@test("agents of the command line, by name", quick=True, modes=("full", "vm", "jdks"))
def listed(run):
    java, path = jar(run, "ApmLike"), str(run.jdk.inside(AGENT))
    flags = ("-agentpath:%s=40" % path, "-javaagent:%s=app/" % java)
    classes, truth = started(run, run.java_command("ApmLike", "20", "0", flags=flags, hold=1))
    rows = classes.check().jvm["agents"]
    expect([agent_facts(row) for row in rows] == [
        ("native", path, "40", path, flags[0], False),
        ("java", str(java), "app/", None, flags[1], False)], "agents %s" % rows)
    native, other = rows
    # Of a program that chroot starts nothing is read before it runs, and its agent may be first.
    seen = native["initialize_ns"] is not None
    expect(seen or run.jdk.root, "the native agent was not seen: %s" % native)
    expect(not seen or native["initialize_ns"] >= 40e6, "it slept 40 ms: %s" % native)
    expect(not seen or native["time_ns"] + native["initialize_ns"] <
           classes.jvm["initialized_time_ns"], "it took too long: %s" % native)
    expect(classes.jvm["initialized_time_ns"] <= other["time_ns"] < classes.jvm["main_time_ns"],
           "times %s of %s" % (rows, classes.jvm))
    expect(native["premain_ns"] is None and other["premain_ns"] > 0, "premain %s" % rows)
    before = classes.named("lib.")
    expect(len(before) == truth["defined"] and all(
        event["phases_ns"]["transform"] > 0 and not event["agents"][0]["transformed"]
        for event in before), "classes that no agent changed: %s" % before[:1])


@test("agents that are attached", quick=True, modes=("full", "jdks"))
def dynamic(run):
    # JREs have no tools; those of the machine's JDKs know all versions, and their files.
    home = jdks.find()[-1].home if run.jdk.root else run.jdk.home
    tool = home / "bin" / "jcmd"
    if not tool.exists():
        raise Skip("this JDK has no jcmd")
    java, path = str(jar(run, "ApmLike")), str(run.jdk.inside(AGENT))
    jvm = run.java("ApmLike", "20", "0", wait=True, hold=1)

    def load(*words):
        done = subprocess.run([tool, str(jvm.host_pid), "JVMTI.agent_load", *words],
                              capture_output=True, text=True, timeout=60, check=True)
        expect("return code: 0" in done.stdout, "jcmd: %s" % done.stdout)

    load(path, "20")
    file, view = run.output(), run.output(".jfr")
    scope = run.scope("-p", jvm.host_pid, "-e", "class", "--filter", "off", "-q", "-f", file,
                      "-f", view)
    run.wait_recording(scope)
    begin_ns = time.time_ns()
    load(java, "app/")
    jvm.go()
    truth = jvm.truth()
    classes = Classes(run.finish(scope, file, 60)).check()
    rows = classes.jvm["agents"]
    expect([agent_facts(row) for row in rows] == [("native", path, "20", path, None, True),
                                                  ("java", java, "app/", None, None, True)],
           "agents %s" % rows)
    expect(begin_ns < rows[1]["time_ns"] < time.time_ns() and rows[1]["initialize_ns"] > 0,
           "times of what was attached meanwhile: %s" % rows[1])
    expect(len([event for event in classes.named("app.") if event["agents"][0]["transformed"]]) ==
           truth["defined"], "classes changed by an attached agent")
    tool = str(home / "bin" / "jfr")
    printed = subprocess.run([tool, "print", "--events", "JavaAgent,NativeAgent", view],
                             capture_output=True, text=True, check=True).stdout
    expect(printed.count("dynamic = true") == 2 and 'name = "%s"' % java in printed and
           'path = "%s"' % path in printed, "JFR: %s" % printed)
    run.note("attached in %.1f ms" % (rows[1]["initialize_ns"] / 1e6))


# ---- others

@test("classes of a bystander", quick=True)
def bystander(run):
    other = run.java("ClassStorm", "dup", "300", wait=True, hold=5)
    jvm = run.java("Idle", hold=8)
    path = run.output()
    scope = run.scope("-p", jvm.host_pid, "-d", "4", "-e", "class", "--filter", "off", "-q", "-f",
                      path)
    run.wait_recording(scope)
    other.go()
    other.truth()
    classes = Classes(run.finish(scope, path, 60)).check()
    expect(not classes.named("dup."), "classes of another JVM")
    expect(classes.counts["notified"] < 300, "hits of another JVM: %s" % classes.counts)
