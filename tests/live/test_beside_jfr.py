# SPDX-License-Identifier: Apache-2.0
"""
Waits, threads, class loads, compilations, reads and writes beside the JVM's own recorder, which
runs on the same JVM at the same time. Both files are read by the JDK's consumer, event by event.
"""
import collections
import datetime
import json
import re

import beside
import test_io
from harness import expect
from suite import test
from test_gc import COLLECTORS
from test_jfr import tools
from test_locks import FLAGS

# The first and the last may be outside of the time that both recorded.
EDGE_NS = 1_000_000
# From where one takes the time to where the other does; what waits is long enough to tell apart.
APART_NS = 20_000_000

Event = collections.namedtuple("Event", "start_ns duration_ns thread values")


def time_ns(text):
    """Of a time as jfr print --json has it: fraction and zone as there are."""
    date, fraction, zone = re.fullmatch(r"([^.Z+]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", text).groups()
    second = datetime.datetime.fromisoformat(date + zone.replace("Z", "+00:00")).timestamp()
    return int(second) * 10**9 + int((fraction or "").ljust(9, "0"))


def span_ns(text):
    hours, minutes, seconds = re.fullmatch(
        r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", text).groups()
    return round((int(hours or 0) * 60 + int(minutes or 0)) * 60e9 + float(seconds or 0) * 1e9)


def read(path, name):
    """Events of that name without jdk., by start."""
    text = tools()[-1].run("print", "--json", "--events", "jdk." + name, path, seconds=120)
    found = []
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        thread = values.get("eventThread") or {}
        found.append(Event(time_ns(values["startTime"]), span_ns(values.get("duration", "PT0S")),
                           thread.get("osThreadId"), values))
    return sorted(found, key=lambda event: event.start_ns)


def class_name(value):
    """Without what makes names of hidden classes differ from run to run."""
    return value and re.sub(r"[+/]0x[0-9a-f]+$", "", value["name"].replace(".", "/"))


def method_name(value):
    return "%s.%s%s" % (class_name(value["type"]), value["name"], value["descriptor"])


def of_class(field):
    return lambda event: (event.thread, class_name(event.values[field]))


def of_file(*fields):
    """One of them has its path as it was given, the other that of the file."""
    return lambda event: (event.thread, (event.values["path"] or "").rpartition("/")[2],
                          *(event.values[field] for field in fields))


def of_socket(*fields):
    return lambda event: (event.thread, event.values["port"],
                          *(event.values[field] for field in fields))


def of_thread(event):
    return event.values["thread"]["osThreadId"], event.values["thread"]["javaName"]


def of_method(event):
    values = event.values
    return method_name(values["method"]), values["compileLevel"], values["isOsr"]


# Name: what makes two events the same one, and whether their durations are compared.
KEYS = {
    "JavaMonitorEnter": (of_class("monitorClass"), True),
    "JavaMonitorWait": (of_class("monitorClass"), True),
    "ThreadPark": (of_class("parkedClass"), True),
    "SocketRead": (of_socket("bytesRead", "endOfStream"), True),
    "SocketWrite": (of_socket("bytesWritten"), True),
    "FileRead": (of_file("bytesRead"), True),
    "FileWrite": (of_file("bytesWritten"), True),
    "ThreadStart": (of_thread, False),
    "ThreadEnd": (of_thread, False),
    "Compilation": (of_method, False),
    "JavaExceptionThrow": (of_class("thrownClass"), False),
    "ClassDefine": (of_class("definedClass"), False),
    "ClassLoad": (of_class("loadedClass"), False),
}
# What else of two events is to be equal.
VALUES = {"Compilation": ("compileId", "succeded", "codeSize", "inlinedBytes")}
# Whose doing it was that a wait ended.
BY = {"JavaMonitorEnter": "previousOwner", "JavaMonitorWait": "notifier"}
SHARE = 99  # percent of those of which a few may be told otherwise
IO = ("SocketRead", "SocketWrite", "FileRead", "FileWrite")
SHARED = ("JavaMonitorEnter", "JavaMonitorWait", "ThreadPark", "Compilation", *IO)


def is_slow_for_both(event):
    """
    The settings have 10 ms for reads and writes, where ours are 20. Those of the other side, and of
    the file that is plain, wait for nothing but a CPU.
    """
    values = event.values
    return (event.duration_ns >= 25_000_000 and values["eventThread"]["javaName"] == "main" and
            not (values.get("path") or "").endswith("plain"))


def is_compared(event):
    """
    The JVM's recorder is silent of its own threads, and of hidden classes. It has an event for each
    loader that is asked for a class, also of one that is there already, and two for each Error.
    Brief parks are about as long as the threshold on a busy machine.
    """
    values = event.values
    defined = values.get("definedClass") or values.get("loadedClass")
    asked, defining = values.get("initiatingClassLoader"), values.get("definingClassLoader")
    thread = (values.get("eventThread") or {}).get("javaName") or ""
    thrown, parked = ((values.get(name) or {"name": ""})["name"]
                      for name in ("thrownClass", "parkedClass"))
    if thread.startswith("JFR ") or thrown.endswith("Error") or parked == "Waits$Brief":
        return False
    is_hidden = defined and "/0x" in defined["name"].replace("+", "/")
    return not is_hidden and (asked is None or asked == defining)


class Comparison:
    """Of the events of one name in both files."""

    def __init__(self, pair, path, name):
        self.name = name
        self.pair = pair
        self.key, self.has_duration = KEYS[name]
        ours, theirs = read(path, name), read(pair.theirs, name)
        # JDK 21 tells of each thread twice that it has ended.
        if name == "ThreadEnd":
            theirs = list({of_thread(event): event for event in theirs}.values())
        self.pairs, self.not_seen = self.pair_up(theirs, ours)
        # What Java code defined, also a loader for another one, is no load there.
        defined = read(pair.theirs, "ClassDefine") if name == "ClassLoad" else []
        names = {class_name(event.values["definedClass"]) for event in defined}
        self.not_theirs = [event for event in self.pair_up(ours, theirs)[1]
                           if not names or class_name(event.values["loadedClass"]) not in names]

    def is_within(self, event):
        """Both must have it then."""
        return (event.start_ns >= self.pair.began + EDGE_NS and
                event.start_ns + event.duration_ns <= self.pair.ended - EDGE_NS)

    def pair_up(self, events, others):
        """(pairs, events without another one): of the same key, the nearest in time."""
        free = {}
        for other in others:
            free.setdefault(self.key(other), []).append(other)
        pairs, alone = [], []
        is_asked_for = is_slow_for_both if self.name in IO else is_compared
        for event in filter(is_asked_for, filter(self.is_within, events)):
            near = free.get(self.key(event), [])
            best = min(near, key=lambda other: abs(other.start_ns - event.start_ns), default=None)
            # One that waits again and again: without its own, the next one's is not taken.
            if best is None or (self.has_duration and
                                abs(best.start_ns - event.start_ns) > APART_NS):
                alone.append(event)
                continue
            near.remove(best)
            pairs.append((event, best))
        return pairs, alone

    def is_equal(self, event, other):
        apart_ns = abs(event.duration_ns - other.duration_ns)
        if any(event.values[field] != other.values[field] for field in VALUES.get(self.name, ())):
            return False
        return not self.has_duration or apart_ns <= max(0.05 * event.duration_ns, 200_000)

    def check_by(self):
        """Who ended the wait of each pair: whether both say the same of it."""
        names = [[(event.values[BY[self.name]] or {}).get("osThreadId") for event in pair]
                 for pair in self.pairs]
        equal = sum(theirs == ours for theirs, ours in names)
        expect(100 * equal >= SHARE * len(names), "%s: %d of %d equal: %s" % (
            BY[self.name], equal, len(names), [pair for pair in names if len(set(pair)) > 1][:5]))
        return "%s %d of %d" % (BY[self.name], equal, len(names))

    def check(self, at_least):
        """A row for the table of docs/accuracy.md."""
        equal = sum(self.is_equal(*pair) for pair in self.pairs)
        everything = len(self.pairs) + len(self.not_seen)
        expect(everything >= at_least, "%s: %d events only" % (self.name, everything))
        bar = SHARE if self.name in SHARED else 100
        odd = [self.key(event) for event in self.not_seen + self.not_theirs][:3]
        # Theirs is the time of a Java method around what we measure: a CPU may be lost in between.
        long_enough = 90 if self.name in IO else bar
        expect(100 * equal >= long_enough * everything and
               100 * len(self.not_seen) <= (100 - bar) * everything and
               100 * len(self.not_theirs) <= (100 - bar) * everything,
               "%s: %d, %d equal, %d only in theirs, %d only in ours: %s" % (
                   self.name, everything, equal, len(self.not_seen), len(self.not_theirs), odd))
        worst = max((abs(event.duration_ns - other.duration_ns) for event, other in self.pairs
                     if self.has_duration), default=0)
        return "%s %d of %d%s" % (self.name, equal, everything, " (%.0f us)" % (worst / 1e3)
                                  if self.has_duration else "")


# Program: its arguments, what of the JVM's recorder is without threshold, our groups, and how many
# events there are to be of each name at least.
PROGRAMS = {
    "waits": (["Waits", 4], [], "lock,thread", {
        "JavaMonitorEnter": 100, "JavaMonitorWait": 50, "ThreadPark": 100, "ThreadStart": 4,
        "ThreadEnd": 4}),
    "io": (None, [], "io", {
        "SocketRead": 60, "SocketWrite": 20, "FileRead": 60, "FileWrite": 40}),
    "crowd": (["Crowd", 5, 6], [], "lock", {"JavaMonitorEnter": 100}),
    "threads": (["Events", 200, 10], ["Compilation", "JavaExceptionThrow"],
                "thread,exception,jit", {
        "ThreadStart": 150, "ThreadEnd": 150, "Compilation": 10, "JavaExceptionThrow": 1500}),
    "compilations": (["InlineOsr", 4], ["Compilation"], "jit", {"Compilation": 10}),
    "defined classes": (["ClassStorm", "many", 1000], ["ClassLoad", "ClassDefine"], "class", {
        "ClassLoad": 0, "ClassDefine": 900}),
    "loaded classes": (["ClassStorm", "jdk"], ["ClassLoad", "ClassDefine"], "class", {
        "ClassLoad": 50, "ClassDefine": 50}),
}


SLOW_CALLS = 34  # of each kind

# What does not depend on the collector is compared with one.
PARAMS = {"%s, %s" % (name, flags) if flags != "G1" else name: {"name": name, "flags": FLAGS[flags]}
          for name in PROGRAMS for flags in COLLECTORS
          if flags == "G1" or name in ("waits", "threads")}
# C2 gives up on what is larger.
PARAMS["compilations that fail"] = {
    "name": "compilations", "fails": True,
    "flags": ["-XX:-TieredCompilation", "-XX:MaxNodeLimit=1000", "-XX:NodeLimitFudgeFactor=100"]}


@test("beside JFR", quick=["threads"], limit=240, jdks=["waits", "threads"], params=PARAMS)
def beside_jfr(run, name, flags, fails=False):
    program, events, groups, least = PROGRAMS[name]
    program = program or test_io.program(run, SLOW_CALLS)
    path = run.output(".jfr")
    pair = beside.record(run, program, flags, events, ["-f", path, "-e", groups, "--trie", "none"])
    for event, count in least.items():
        comparison = Comparison(pair, path, event)
        run.note(comparison.check(count))
        if event in BY:
            run.note(comparison.check_by())
    if fails:
        failed = [event for event in read(path, "Compilation") if not event.values["succeded"]]
        expect(failed, "no compilation has failed")
        run.note("%d failed" % len(failed))
