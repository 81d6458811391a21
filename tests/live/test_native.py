# SPDX-License-Identifier: Apache-2.0
"""Native memory: what a program allocates is booked at the site that did, to the byte."""
import gzip
import os
import re
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path

from harness import SCOPE, Jvm, Skip, expect, wait_until
from recording import Recording
from suite import test

EXACT = ("-e", "native", "--max-overhead", "none")
HELD = ("leak", "grow", "shrink", "huge")


class Sites:
    """The section "native" of a recording."""

    def __init__(self, recording, jvm=0):
        self.recording = recording
        self.raw = dict(recording.raw["native"])
        self.raw["sites"] = [site for site in self.raw["sites"] if site["jvm"] == jvm]
        self.counts = self.raw["counts"][jvm]
        self.budget = next(row for row in recording.raw["budget"]["jvms"]
                           if row["jvm"] == jvm and row["group"] == "native")

    def methods(self, site):
        if site["stack"] is None:
            return []
        frames = self.recording.raw["stacks"][site["stack"]]
        return [self.recording.frames[frame].method for frame in frames]

    def by_method(self, program, tag=None, use="malloc"):
        """Sums of the sites whose innermost method of the program is the key."""
        sums = defaultdict(lambda: defaultdict(int))
        for site in self.raw["sites"]:
            if site["use"] != use or (tag and site["tag"] != tag):
                continue
            inside = [name for name in self.methods(site) if name.startswith(program + ".")]
            for key in ("live_bytes", "live_blocks", "alloc_count", "alloc_bytes", "freed_count"):
                sums[inside[0].rpartition(".")[2] if inside else ""][key] += site[key] or 0
        return sums

    def suspects(self, program):
        """Suspects by innermost method of the program, each with its place in the list."""
        found = {}
        for place, suspect in enumerate(self.raw["suspects"]):
            inside = [name for name in self.methods(suspect) if name.startswith(program + ".")]
            if inside:
                found.setdefault(inside[0].rpartition(".")[2], dict(suspect, place=place))
        return found

    def total(self, key, tag):
        return sum(site[key] or 0 for site in self.raw["sites"]
                   if site["tag"] == tag and site["use"] == "malloc")


# Where both builds here keep the arguments of os::malloc in registers until libc has returned.
PROBED_BEHIND = (17, 25)


def check_sites(sites, truth, jdk):
    """Live bytes and blocks of each site are the program's, and the frames are those of C12."""
    other = sites.by_method("UnsafeSites", "Other")
    for name in HELD:
        expect(other[name]["live_bytes"] == truth["live"][name] and
               other[name]["live_blocks"] == truth["blocks"][name],
               "%s: %s, not %s in %s" % (name, dict(other[name]), truth["live"][name],
                                         truth["blocks"][name]))
    for name in other:
        expect(name in HELD or other[name]["live_bytes"] == 0, "%s: %s" % (name, other[name]))
    expect(sites.total("alloc_count", "Other") == truth["allocations"],
           "%d allocations, not %d" % (sites.total("alloc_count", "Other"), truth["allocations"]))
    frees = sites.by_method("UnsafeSites", use="unknown_free")
    expect(frees["freeOld"]["freed_count"] == truth["unknown_frees"], "%s" % dict(frees))
    expect(truth["failed"] and sites.counts["failed"] == 1, "%s" % sites.counts)
    for site in sites.raw["sites"]:
        names = sites.methods(site)
        if site["tag"] == "Other" and "UnsafeSites.leak" in names:
            expect(names[0].startswith("os::malloc"), "%s" % names)
            # JDK 25 calls os::malloc last of all, by a jump: then there is no such frame.
            expect(jdk.major >= 24 or names[1].startswith("Unsafe_AllocateMemory0"), "%s" % names)


@test("native sites", quick=["late"], modes=("full", "jdks"),
      params={"late": {"nmt": "off"}, "late, NMT summary": {"nmt": "summary"},
              "late, NMT detail": {"nmt": "detail"}})
def native_sites(run, nmt):
    jvm = run.java("UnsafeSites", flags=["-XX:NativeMemoryTracking=" + nmt], wait=True, hold=60)
    recording, truth = run.record_all(jvm, *EXACT)
    sites = Sites(recording)
    check_sites(sites, truth, run.jdk)
    found = sites.suspects("UnsafeSites")
    for name in ("leak", "grow", "huge"):
        expect(found[name]["live_bytes"] == truth["live"][name] and
               sum(found[name]["age_histogram"]) == truth["live"][name] and
               found[name]["kind"] in ("once", "undecided"), "%s: %s" % (name, found[name]))
    expect(sites.budget["state"] == "exact" and sites.budget["live_known"], "%s" % sites.budget)
    if nmt == "off" and run.jdk.major in PROBED_BEHIND and os.uname().machine == "x86_64":
        expect(sites.counts["returns"] < sites.counts["allocations"] / 2,
               "os::malloc is probed twice a call: %s" % sites.counts)
    bad = [state for state in recording.raw["stack_states"] if state != "complete"]
    expect(not bad, "%d of %d stacks: %s" % (len(bad), len(recording.raw["stack_states"]), bad[:3]))
    run.note("%d sites, %.1f us a block" % (
        len(sites.raw["sites"]), sites.counts["run_ns"] / 1e3 / sites.counts["allocations"]))


# The kernel's links for probes, and those of older kernels.
LINKS = {"": {"links": "best"}, "by multi links": {"links": "multi"},
         "by single links": {"links": "single"}}


def with_links(links):
    return dict(os.environ, JVMSCOPE_LINKS=links)


@test("native sites of a started JVM", params=LINKS)
def native_sites_started(run, links):
    path = run.output()
    scope = run.track(Jvm([SCOPE, "-f", path, "--no-progress", *EXACT, "--",
                           *run.java_command("UnsafeSites", wait=True)],
                          env=with_links(links)))
    scope.ready()
    # Long enough for us to have read the JVM. What it has allocated before is known by then.
    time.sleep(1)
    scope.go()
    recording = run.finish(scope, path, 60)
    sites = Sites(recording)
    other = sites.by_method("UnsafeSites", "Other")
    for name, size in (("leak", 1008000), ("grow", 64000), ("shrink", 104), ("huge", 64 << 20)):
        expect(other[name]["live_bytes"] == size, "%s: %s" % (name, dict(other[name])))
    # Nothing was there before: all frees are of known blocks.
    expect(sites.counts["unknown_frees"] == 0, "%s" % sites.counts)


@test("native sites of JVMs that end", each_jdk=False)
def native_sites_ended(run):
    """More JVMs than have a place for their sites at once, one after the other."""
    limit = 768
    jvms = [run.java("UnsafeSites", wait=True, hold=60) for _ in range(8)]
    path = run.output()
    pids = (word for jvm in jvms for word in ("-p", jvm.pid))
    scope = run.scope(*pids, "-f", path, "--no-progress", "--native-sites", limit, *EXACT)
    run.wait_recording(scope)
    truths = []
    for jvm in jvms:
        jvm.go()
        truths.append(jvm.truth())
        time.sleep(0.5)  # its frames get their names
        jvm.signal(signal.SIGKILL)
        jvm.wait(30)
        time.sleep(2.2)  # its places rest
    recording = run.finish(scope, path)
    used = 0
    for number, (jvm, truth) in enumerate(zip(jvms, truths)):
        expect(recording.jvms[number]["pid"] == jvm.pid, "%s" % recording.jvms)
        sites = Sites(recording, number)
        expect(sites.counts["sites_full"] == 0, "%s" % sites.counts)
        check_sites(sites, truth, run.jdk)
        used += len(sites.raw["sites"])
    expect(used > 2 * limit, "only %d sites: all of them have a place at once" % used)
    run.note("%d sites of 8 JVMs in %d places" % (used, limit))


@test("native sites by two recorders at once")
def native_sites_twice(run):
    """
    Links of two processes on the same libjvm, each for a JVM of its own: the kernel calls both for
    each hit, and a session of the other JVM's would have a return address replaced here.
    """
    pairs = []
    for _ in range(2):
        jvm = run.java("UnsafeSites", wait=True, hold=60)
        path = run.output()
        scope = run.scope("-p", jvm.pid, "-f", path, "--no-progress", *EXACT)
        run.wait_recording(scope)
        pairs.append((jvm, scope, path))
    for jvm, _, _ in pairs:
        jvm.go()
    for jvm, scope, path in pairs:
        truth = jvm.truth()
        scope.signal(signal.SIGINT)
        sites = Sites(run.finish(scope, path))
        check_sites(sites, truth, run.jdk)
        expect(sites.counts["unseen_returns"] == 0, "%s" % sites.counts)


@test("native sites after the truth")
def native_sites_after(run):
    jvm = run.java("UnsafeSites", hold=60)
    jvm.truth()
    recording = run.record(jvm.pid, 1, *EXACT)
    sites = Sites(recording)
    for tag in sites.raw["by_tag"]:
        expect(tag["live_bytes"] >= 0 and tag["live_blocks"] >= 0, "%s" % tag)
    expect(sites.total("alloc_count", "Other") == 0, "allocations before the attach")


PROBED = "00007fffffffe000"  # the trampoline of return probes, which NMT takes for the caller


class Detail:
    """Sites of the JVM's detail report, or of ours: (addresses, tag) to (KB, blocks, names)."""

    def __init__(self, text):
        self.sites = {}
        calls = []
        expect("\nDetails:\n" in text, text[:500])
        for line in text.split("\nDetails:\n", 1)[1].splitlines():
            call = re.match(r"\[0x([0-9a-f]{16})\] *(.*)", line)
            end = re.match(r" +\(\(?malloc=(\d+)KB (?:type|tag)=(.+?) #(\d+)\)", line)
            if call:
                calls.append(call.groups())
            elif end:
                key = tuple(address for address, _ in calls), end[2]
                expect(key not in self.sites, "twice: %s" % (key,))
                self.sites[key] = int(end[1]), int(end[3]), [name for _, name in calls]
            if not call:
                calls = []

    def amounts(self, tag):
        """
        What does not depend on where code lies: functions, kilobytes and blocks. Where the VM's own
        function is left by a jump only addresses of Java code tell sites apart, and NMT knows the
        interpreter, not what it runs: those are the largest, and the sum of all others.
        """
        rows = sorted((([re.sub(r"\(.*\)", "", name) for name in names if "+0x" in name], size,
                        blocks) for (_, site_tag), (size, blocks, names) in self.sites.items()
                       if site_tag == tag), key=lambda row: (row[0], -row[1]))
        nameless = [row for row in rows if not row[0]]
        others = nameless[1:]
        return nameless[:1] + [([], sum(row[1] for row in others), sum(row[2] for row in others))
                               ] * bool(others) + [row for row in rows if row[0]]

    def total(self, tag):
        rows = [row for (_, site_tag), row in self.sites.items() if site_tag == tag]
        return sum(row[0] for row in rows), sum(row[1] for row in rows)


def jcmd_detail(run, pid):
    jcmd = run.jdk.home / "bin" / "jcmd"
    if not jcmd.exists():
        raise Skip("no jcmd")
    return Detail(subprocess.run([jcmd, str(pid), "VM.native_memory", "detail"],
                                 capture_output=True, text=True, check=True, timeout=30).stdout)


def child_of(pid):
    path = "/proc/%d/task/%d/children" % (pid, pid)
    with open(path, encoding="ascii") as children:
        return int(children.read().split()[0])


@test("native detail")
def native_detail(run):
    """
    The JVM's own report and ours, of a program whose every allocation was seen: one report of a
    JVM that nobody probes, and both of one that is recorded. Methods are compiled while their
    caller waits, so that the same calls come from the interpreter each time.
    """
    flags = ["-XX:NativeMemoryTracking=detail", "-Xbatch"]
    alone = run.java("UnsafeSites", flags=flags, hold=60)
    alone.truth()
    path = run.output(".nmt.txt")
    scope = run.scope("-f", path, "--no-progress", *EXACT, "--",
                      *run.java_command("UnsafeSites", flags=flags, hold=60))
    scope.line("TRUTH", 60)
    probed = jcmd_detail(run, child_of(scope.pid))
    scope.signal(signal.SIGINT)
    expect(scope.wait(30) == 0, " | ".join(scope.err[-5:]))
    ours = Detail(path.read_text(encoding="utf-8"))
    theirs = jcmd_detail(run, alone.pid)
    expect(len(theirs.amounts("Other")) >= 2, "%s" % theirs.amounts("Other"))
    expect(ours.amounts("Other") == theirs.amounts("Other"),
           "%s, not %s" % (ours.amounts("Other"), theirs.amounts("Other")))
    size, blocks = probed.total("Other")
    expect(ours.total("Other")[1] == blocks and abs(ours.total("Other")[0] - size) <= 2,
           "%s, not %s" % (ours.total("Other"), (size, blocks)))
    # Of the JVM's own sites those are compared whose stacks NMT could walk past the probes.
    both = {key for key in ours.sites if key in probed.sites and PROBED not in key[0]}
    equal = {key for key in both if ours.sites[key][:2] == probed.sites[key][:2]}
    expect(len(equal) >= 30, "%d of %d sites are equal" % (len(equal), len(both)))
    for key in both:
        # Where the library is another than libjvm later JDKs say so behind the offset.
        names = zip(ours.sites[key][2], probed.sites[key][2])
        expect(all(mine.rpartition("+")[2] == name.rpartition("+")[2].split(" ")[0]
                   for mine, name in names if name),
               "%s, not %s" % (ours.sites[key], probed.sites[key]))
    run.note("%d sites, %d of them also in the JVM's own report by address, %d with equal amounts"
             % (len(ours.sites), len(both), len(equal)))


@test("native losses", each_jdk=False)
def native_losses(run):
    """The ring is as small as can be and the reader is stopped: every block is booked all the same."""
    jvm = run.java("AllocStorm", 4, 2, wait=True, hold=60)
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-f", path, "--no-progress", "--ring-size", "4k", *EXACT)
    run.wait_recording(scope)
    scope.signal(signal.SIGSTOP)
    jvm.go()
    time.sleep(2)
    scope.signal(signal.SIGCONT)
    truth = jvm.truth()
    scope.signal(signal.SIGINT)
    sites = Sites(run.finish(scope, path))
    expect(sites.counts["recalled_stacks"] > 0.5 * truth["mallocs"], "nearly all stacks are walked, "
           "though they are a handful: %s" % sites.counts)
    seen = sites.total("alloc_count", "Other")
    named = sum(row["alloc_count"] for name, row in
                sites.by_method("AllocStorm", "Other").items() if name)
    expect(seen == truth["mallocs"], "seen %d of %d" % (seen, truth["mallocs"]))
    expect(sites.total("freed_count", "Other") == truth["frees"], "frees: %s" % sites.counts)
    expect(sites.total("alloc_bytes", "Other") == truth["bytes"], "bytes: %s" % sites.counts)
    expect(sites.counts["stack_ring_full"] > 0, "nothing was lost: the ring is too large")
    run.note("%d blocks, %d with a stack; %d stacks did not fit" % (
        seen, named, sites.counts["stack_ring_full"]))


@test("native map that is too small", quick=True, each_jdk=False)
def native_small_map(run):
    """Blocks without a place in the map are counted: as allocated, and as not followed."""
    limit = 1024
    jvm = run.java("LeakOrPool", 1, 30, wait=True, hold=60)
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-f", path, "--no-progress", "--live-blocks", limit, *EXACT)
    run.wait_recording(scope)
    jvm.go()
    truth = jvm.truth()
    scope.signal(signal.SIGINT)
    recording = run.finish(scope, path)
    sites = Sites(recording)
    allocated = sites.total("alloc_bytes", "Other")
    untracked = sites.total("untracked_bytes", "Other")
    lived = sum(truth[name] for name in KINDS)
    expect(sites.counts["live_full"] > lived // 10000 - limit, "%s" % sites.counts)
    expect(sites.total("alloc_count", "Other") == truth["allocations"], "not all are counted")
    live = sites.total("live_bytes", "Other")
    expect(live < lived and live + untracked >= lived, "%d live and %d not followed of %d" % (
        live, untracked, lived))
    expect(live // 10000 <= limit, "more blocks are followed than have a place")
    default = run.record(jvm.pid, 1, *EXACT).quality["own_map_bytes"]
    expect(default <= 64 << 20, "maps of %d bytes" % default)
    expect(recording.quality["own_map_bytes"] < default - (15 << 20), "the map is as large as ever")
    run.note("%d blocks had no place, %d of %d bytes; maps %.1f MiB, %.1f by default" % (
        sites.counts["live_full"], untracked, allocated,
        recording.quality["own_map_bytes"] / 1048576, default / 1048576))


def check_withheld(run, recording, collapsed, jfr, pprof, nmt):
    """What lives is in no output."""
    expect(any(recording.samples("native_alloc")), "nothing was allocated")
    expect(not any(recording.samples("native_live")), "in JSON")
    expect(not collapsed.read_text(encoding="utf-8"), "in collapsed stacks")
    names = gzip.decompress(pprof.read_bytes())
    expect(b"native_alloc" in names and b"native_live" not in names, "in pprof")
    expect("What lives is not known" in nmt.read_text(encoding="utf-8"), "in the detail report")
    path = run.output()
    expect(run.scope("convert", jfr, "-o", path).wait(30) == 0, "the JFR file is not read")
    from_jfr = Recording(path)
    expect(any(from_jfr.samples("native_alloc")) and not any(from_jfr.samples("native_live")), "in JFR")


def check_changes(run, events, jfr, pprof, nmt):
    """Every change of the state is in each output that has a place for it."""
    change = "native exact -> %s after " % events[0]["to"]
    expect(change.encode() in gzip.decompress(pprof.read_bytes()), "not in pprof")
    expect("Probes: " + change in nmt.read_text(encoding="utf-8"), "not in the detail report")
    printed = subprocess.run([run.jdk.home / "bin" / "jfr", "print", "--events",
                              "jvmscope.ProbeState", jfr], capture_output=True, text=True,
                             check=True, timeout=60).stdout
    expect(re.findall(r'to = "(\w+)"\s+reason = "(\w+)"', printed) ==
           [(event["to"], event["reason"]) for event in events], "JFR: %s" % printed[:2000])


@test("native budget", each_jdk=False)
def native_budget(run):
    jvm = run.java("AllocStorm", 20, 2, wait=True, hold=60)
    others = [run.output(suffix) for suffix in (".collapsed", ".jfr", ".pb.gz", ".nmt.txt")]
    recording, truth = run.record_all(jvm, "-e", "native", "--max-overhead", "2", "--metric",
                                      "native_live", *(word for path in others
                                                       for word in ("-f", path)))
    sites = Sites(recording)
    budget = sites.budget
    expect(budget["state"] in ("slices", "counters", "detached"), "%s" % budget)
    expect(budget["total_cost_pct"] <= 3, "%s" % budget)
    expect(0 < budget["coverage"] < 0.5, "%s" % budget)
    events = recording.raw["budget"]["events"]
    expect(events and events[0]["from"] == "exact" and events[0]["reason"] == "over_limit" and
           events[0]["cost_pct"] > events[0]["limit_pct"] == 2, "%s" % events)
    expect(not budget["live_known"] and all(site["live_bytes"] is None for site in sites.raw["sites"]
                                            if site["use"] == "malloc"),
           "what lives is told, though it is not known")
    check_withheld(run, recording, *others)
    check_changes(run, events, *others[1:])
    run.note("%s, %.2f %%, %d blocks a second" % (budget["state"], budget["total_cost_pct"],
                                                  truth["ops_per_s"]))


@test("native memory of phases", each_jdk=False)
def native_phases(run):
    """In slices of time bytes are right, or are not said; and the summary says the same."""
    jvm = run.java("NativePhases", 40, wait=True, hold=60)
    recording, truth = run.record_all(jvm, "-e", "native", "--max-overhead", "1")
    sites = Sites(recording)
    budget = sites.budget
    tag = next(row for row in sites.raw["by_tag"] if row["tag"] == "Other")
    expect(budget["state_ns"]["slices"] > 0 and budget["coverage"] < 0.9, "%s" % budget)
    error_pct = budget.get("error_pct", 0)
    if budget["estimated"]:
        expect(0 < error_pct <= 5 and tag["slice_error_bytes"] > 0, "%s, %s" % (budget, tag))
        expect(0.9 < tag["alloc_bytes"] / truth["bytes"] < 1.1, "%d bytes of %d" % (
            tag["alloc_bytes"], truth["bytes"]))
    else:
        expect(tag["alloc_bytes"] is None and tag["seen_bytes"] < truth["bytes"], "%s" % tag)
        expect(error_pct > 5 and "slice_error_bytes" not in tag, "%s, %s" % (budget, tag))
    run.note("%s, coverage %.2f, error %.1f %%: %.3f of %d bytes in %d phases" % (
        "estimated" if budget["estimated"] else "not estimated", budget["coverage"], error_pct,
        (tag["alloc_bytes"] or tag["seen_bytes"]) / truth["bytes"], truth["bytes"],
        truth["phases"]))


KINDS = {"leak": "leak", "pool": "pool", "swing": "pool", "once": "once"}
SURVIVED = {"leak": 1, "pool": 2, "once": 2}


@test("leaks and pools", quick=True, modes=("full", "jdks"))
def leaks_and_pools(run):
    """Sites that grow in four ways: the leak comes first, and pools are called so."""
    seconds = 4
    jvm = run.java("LeakOrPool", seconds, wait=True, hold=60)
    recording, truth = run.record_all(jvm, *EXACT)
    sites = Sites(recording)
    found = sites.suspects("LeakOrPool")
    for name, kind in KINDS.items():
        row = found.get(name)
        expect(row and row["kind"] == kind and row["live_bytes"] == truth[name],
               "%s: %s, not %s of %d bytes" % (name, row, kind, truth[name]))
        expect(sum(row["age_histogram"]) == truth[name], "%s: ages %s" % (name, row))
    for name, collections in SURVIVED.items():
        expect(found[name]["collections_survived"] == collections,
               "%s survived %d collections, not %d" % (
                   name, found[name]["collections_survived"], collections))
    expect(sites.counts["collections"] == 2, "%d collections" % sites.counts["collections"])
    leaks = [row for row in sites.raw["suspects"] if row["kind"] == "leak"]
    expect(leaks == sites.raw["suspects"][:len(leaks)], "a leak behind what is none")
    expect(found["leak"]["place"] == 0, "another leaks more: %s" % leaks[:2])
    slope = truth["leak"] * 60 / seconds
    expect(0.6 * slope < found["leak"]["bytes_per_minute"] < 1.4 * slope,
           "%.0f bytes a minute, not %.0f" % (found["leak"]["bytes_per_minute"], slope))
    run.note("leak: %.0f bytes a minute of %.0f" % (found["leak"]["bytes_per_minute"], slope))


@test("native memory of a library", quick=True, modes=("full", "jdks"))
def native_libc(run):
    jvm = run.java("ZipLeak", 5, flags=["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"], wait=True,
                   hold=60)
    recording, truth = run.record_all(jvm, "-e", "native=libc", "--max-overhead", "none")
    sites = Sites(recording).by_method("ZipLeak", "libc")
    bytes_found = sites["deflate"]["live_bytes"] + sites["inflate"]["live_bytes"]
    expect(bytes_found >= 0.95 * truth["growth_bytes"], "%d of %d" % (bytes_found,
                                                                     truth["growth_bytes"]))
    found = Sites(recording).suspects("ZipLeak")
    for name in ("deflate", "inflate"):
        expect(found[name]["kind"] == "leak" and found[name]["bytes_per_minute"] > 0,
               "%s: %s" % (name, found[name]))
    expect(found["deflate"]["place"] == 0, "another leaks more: %s" % found)
    run.note("%d bytes at the two sites, growth %d" % (bytes_found, truth["growth_bytes"]))


@test("native memory of nobody", quick=True, modes=("full", "jdks"))
def native_uncovered(run):
    """What a library takes from libc is stated as uncovered, where only the VM's is recorded."""
    jvm = run.java("ZipLeak", flags=["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"], wait=True,
                   hold=60)
    recording, truth = run.record_all(jvm, "-e", "native,counter", "--max-overhead", "none")
    row, = recording.raw["native"]["uncovered"]
    growth = truth["growth_bytes"]
    # All that is allocated is not touched, so it may be more than what became resident.
    expect(0.95 * growth <= row["uncovered_bytes"] <= 1.3 * growth,
           "%s, Rss grew by %d" % (row, growth))
    expect(not row["with_libc"] and row["unread_bytes"] < 65536, "%s" % row)
    jvm = run.java("UnsafeSites", wait=True, hold=60)
    recording, truth = run.record_all(jvm, "-e", "native,counter", "--max-overhead", "none")
    sites, = recording.raw["native"]["uncovered"]
    expect(sites["explained_bytes"] >= sum(truth["live"].values()), "%s" % sites)
    # 250 blocks of 4,096 bytes are from before, and were freed.
    expect(abs(sites["uncovered_bytes"] + 250 * 4096) < 1 << 19, "%s" % sites)
    run.note("%d of %d bytes uncovered, with Unsafe alone %d" % (
        row["uncovered_bytes"], row["malloc_growth_bytes"], sites["uncovered_bytes"]))


@test("native memory of a stripped JVM", lowest=8, jdks=[""], modes=())
def native_stripped(run):
    """Without symbols of libjvm: by libc alone, and one line says so. On JDKs that have none."""
    names = subprocess.run(["nm", run.jdk.libjvm()], capture_output=True, text=True, check=False)
    if names.stdout:
        raise Skip("this libjvm.so has symbols")
    for events, count in (("native,counter", 0), ("native=libc,counter", 200)):
        jvm = run.java("MemoryGrowth", "zip", 200, wait=True, hold=60)
        path = run.output()
        scope = run.scope("-p", jvm.host_pid, "-e", events, "--max-overhead", "none", "-f", path,
                          "--no-progress")
        run.wait_recording(scope)
        jvm.go()
        jvm.truth()
        scope.signal(signal.SIGINT)
        recording = run.finish(scope, path)
        said = [line for line in scope.err if "libjvm.so" in line]
        expect(len(said) == 1 and "no symbols of its allocator" in said[0], "%s" % scope.err[:8])
        native = recording.raw["native"]
        if not count:
            expect(not native.get("sites"), "sites without a probe")
            continue
        zip_bytes = Sites(recording).by_method("MemoryGrowth", "libc")["zip"]["live_bytes"]
        row, = native["uncovered"]
        expect(zip_bytes >= 0.9 * row["malloc_growth_bytes"] > 200 * 200000, "%d of %s" % (
            zip_bytes, row))
        expect(abs(row["uncovered_bytes"]) < 0.05 * row["malloc_growth_bytes"], "%s" % row)
        run.note("%d of %d bytes at the site" % (zip_bytes, row["malloc_growth_bytes"]))


def probed_bytes(jvm, library, symbol):
    """How many bytes of a function of the JVM are others in memory than in the file."""
    names = subprocess.run(["nm", "-S", library], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^([0-9a-f]+) ([0-9a-f]+) t %s$" % re.escape(symbol), names, re.M)
    address, size = int(found[1], 16), int(found[2], 16)
    with open("/proc/%d/maps" % jvm.pid, encoding="utf-8") as maps:
        rows = [line.split() for line in maps if line.rstrip().endswith(str(library))]
    ranges = [[int(end, 16) for end in row[0].split("-")] + [int(row[2], 16)] for row in rows]
    address += ranges[0][0]
    start, _, offset = next(r for r in ranges if r[0] <= address < r[1])
    with open("/proc/%d/mem" % jvm.pid, "rb") as memory, open(library, "rb") as file:
        memory.seek(address)
        file.seek(address - start + offset)
        return sum(a != b for a, b in zip(memory.read(size), file.read(size)))


@test("native memory of a bystander", each_jdk=False)
def native_bystander(run):
    bystander = run.java("AllocStorm", 8, 1, wait=True)
    jvm = run.java("Idle")
    library = (run.jdk.home / "lib" / "server" / "libjvm.so").resolve()
    names = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    symbol = re.search(r"t (_ZN2os6mallocEm\w+RK15NativeCallStack)$", names, re.M)[1]
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-d", 3, "-f", path, "--no-progress", *EXACT)
    wait_until(lambda: probed_bytes(jvm, library, symbol), 10, "no probe in the target")
    bystander.go()
    time.sleep(1)
    expect(probed_bytes(bystander, library, symbol) == 0, "a probe in the bystander")
    sites = Sites(run.finish(scope, path))
    expect(len(sites.recording.jvms) == 1, "%s" % sites.recording.jvms)
    expect(not any("AllocStorm" in name for site in sites.raw["sites"]
                   for name in sites.methods(site)), "the bystander's allocations")


@test("native mappings", quick=[""], params=LINKS)
def native_mappings(run, links):
    """What the VM maps, from its start: stacks by who started the threads, and parts of the heap."""
    path = run.output()
    scope = run.scope("-f", path, "--no-progress", *EXACT, "--", *run.java_command(
        "ManyThreads", 20, 40, flags=["-Xss333k", "-XX:+UseSerialGC"]), env=with_links(links))
    scope.line("READY", 60)
    wait_until(lambda: thread_count(child_of(scope.pid), "many-") == 40, 30, "threads do not start")
    scope.signal(signal.SIGINT)
    sites = Sites(run.finish(scope, path))
    expect(sites.counts["mapping_ring_full"] == 0 and sites.counts["mapping_unseen_returns"] == 0,
           "records were lost: %s" % sites.counts)
    stacks = sites.by_method("ManyThreads", "Thread Stack", "thread_stack")["main"]
    expect(stacks["live_blocks"] == 40, "%s" % dict(stacks))
    # The VM rounds up and adds what libc takes of it: the guard, which is a page.
    expect(40 * 333 * 1024 <= stacks["live_bytes"] <= 40 * (333 + 16) * 1024, "%s" % dict(stacks))
    # JDK 17 reserves the heap without a tag. What was there before the attach is not counted.
    unknown = sum(row["reserved_bytes"] for row in sites.raw["by_tag"] if row["tag"] == "unknown")
    expect(unknown < 64 << 20, "%d bytes are reserved for nobody knows what" % unknown)
    for metric, key in (("vm_reserved", "reserved_bytes"), ("vm_committed", "committed_bytes"),
                        ("thread_stacks", "stack_bytes")):
        expect(sum(sample.value for sample in sites.recording.samples(metric)) ==
               sum(row[key] for row in sites.raw["by_tag"]), "%s is another sum" % metric)
    run.note("%d mapping calls" % sites.counts["mapping_calls"])


@test("native mappings from before", quick=True, modes=("full", "jdks"))
def native_mappings_before(run):
    """
    What is committed in what was reserved before the attach has the tag of that. The heap has 16 MiB
    when the program begins to fill 100.
    """
    jvm = run.java("MemoryGrowth", "heap", 100, wait=True, hold=60,
                   flags=["-Xms16m", "-Xmx300m", "-XX:+UseSerialGC"])
    recording, _ = run.record_all(jvm, *EXACT)
    by_tag = {row["tag"]: row["committed_bytes"] for row in recording.raw["native"]["by_tag"]}
    expect((100 - 16) << 20 <= by_tag["Java Heap"] <= 300 << 20, "%s" % by_tag)
    expect(by_tag.get("unknown", 0) < 1 << 20, "%s" % by_tag)
    run.note(", ".join("%s %d" % row for row in by_tag.items() if row[1]))


@test("native mappings over the budget", each_jdk=False)
def native_mappings_budget(run):
    """A program that does nothing but start threads: the budget is kept, and what lives withheld."""
    jvm = run.java("ShortThreads", 10, 0, wait=True, hold=60)
    path = run.output(".jfr")
    recording, _ = run.record_all(jvm, "-e", "native", "--max-overhead", "0.1", "-f", path)
    budget = next(row for row in recording.raw["budget"]["jvms"] if row["group"] == "mapping")
    events = [row for row in recording.raw["budget"]["events"] if row["group"] == "mapping"]
    expect(events and events[0]["from"] == "exact" and events[0]["reason"] == "over_limit",
           "%s" % recording.raw["budget"])
    expect(budget["total_cost_pct"] <= 0.5, "%s" % budget)
    run.note("%s, %.2f %%" % (" ".join(event["to"] for event in events), budget["total_cost_pct"]))
    if budget["live_known"]:
        return
    expect(all(row["stack_bytes"] is None for row in recording.raw["native"]["by_tag"]) and
           not any(recording.samples("thread_stacks")), "what lives is told, though not known")


def thread_count(pid, prefix):
    names = (Path("/proc/%d/task" % pid) / task.name / "comm"
             for task in Path("/proc/%d/task" % pid).iterdir())
    return sum(name.read_text(encoding="utf-8").startswith(prefix) for name in names)
