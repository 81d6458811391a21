# SPDX-License-Identifier: Apache-2.0
"""Recordings as JFR: what the tools of every JDK here make of them, also of killed ones."""
import contextlib
import random
import re
import signal
import subprocess
import time
from json import loads

import jdks
from harness import Skip, expect, wait_until
from recording import total
from suite import test

SAMPLES = ("jdk.ExecutionSample", "jdk.NativeMethodSample")


class Tool:
    """The jfr of one JDK."""

    def __init__(self, jdk):
        self.jdk = jdk
        self.path = jdk.home / "bin" / "jfr"

    def run(self, *arguments, seconds=60):
        """What it prints. It must end with 0 and say nothing on standard error."""
        try:
            done = subprocess.run([self.path, *arguments], capture_output=True, text=True,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            expect(False, "%s: jfr %s hangs" % (self.jdk, arguments[0]))
        expect(done.returncode == 0 and not done.stderr.strip(), "%s: jfr %s: status %d: %s" % (
            self.jdk, arguments[0], done.returncode, (done.stderr + done.stdout)[-500:]))
        return done.stdout

    def summary(self, path):
        """({event: count}, chunks)"""
        text = self.run("summary", path)
        counts = {name: int(count) for name, count in
                  re.findall(r"^ (\S+) +(\d+) +\d+ *$", text, re.MULTILINE)}
        expect("missing event metadata" not in text, "an event is not declared:\n" + text)
        return counts, int(re.search(r"Chunks: (\d+)", text).group(1))

    def samples(self, path):
        counts, _ = self.summary(path)
        return sum(counts.get(name, 0) for name in SAMPLES)


def tools():
    return [Tool(jdk) for jdk in jdks.find() if jdk.major >= 17]


def collapse(jdk, path):
    done = subprocess.run([jdk.java, "-Xmx1g", "-cp", jdk.class_path(), "JfrCollapse", path],
                          capture_output=True, text=True, timeout=120, check=False)
    expect(done.returncode == 0, "%s: JfrCollapse: %s" % (jdk, done.stderr[-500:]))
    return sorted(done.stdout.splitlines())


def compare_lines(ours, theirs, jdk):
    for line in ours:
        expect(line in theirs, "%s: only in the collapsed file: %s" % (jdk, line))
    for line in theirs:
        expect(line in ours, "%s: only in the JFR file: %s" % (jdk, line))


# View of jfr and a word of our recording that must be in it.
VIEWS = {
    "hot-methods": "MixShares.spin",
    "thread-cpu-load": "mix",
    "events-by-count": "Execution Sample",
    "jvm-information": "PID: ",
    "cpu-load": "JVM User",
    "active-settings": "Execution Sample",
    "system-information": "Linux",
}


def check_views(tool, path, pid):
    for view, word in VIEWS.items():
        text = tool.run("view", view, path)
        expect(word in text, "jfr view %s: no '%s' in:\n%s" % (view, word, text))
    expect(str(pid) in tool.run("view", "jvm-information", path).replace(",", ""), "another pid")
    # Every view: what it cannot find would be said here.
    text = tool.run("view", "all-views", path)
    bad = [line for line in text.splitlines()
           if re.search(r"(can't|could not|cannot|not) find|unknown|missing", line, re.IGNORECASE)]
    expect(not bad, "jfr view all-views: %s" % [line[:200] for line in bad])


def check_rules(tool, path, wanted):
    """The rules of class names: counted once, as in the JSON of the same recording."""
    text = tool.run("print", "--events", "jvmscope.Filter", path)
    found = {name: int(value) for name, value in re.findall(r"^  (\w+) = (\d+)$", text, re.MULTILINE)}
    samples = wanted["samples"]
    expect(text.count("jvmscope.Filter {") == 1 and
           [found[name] for name in ("application", "library", "noJava", "withApplication")] ==
           [samples[name] for name in ("application", "library", "no_java", "with_application")],
           "%s: %s, not %s" % (tool.jdk, found, samples))
    rules = re.findall(r"number = (\d+)\n  rule = \"(.*)\"\n  frames = (\d+)\n  classes = (\d+)",
                       tool.run("print", "--events", "jvmscope.FilterRule", path))
    expect(sorted((int(n), rule, int(f), int(c)) for n, rule, f, c in rules) ==
           sorted((r["number"], r["text"], r["frames"], r["classes"]) for r in wanted["rules"]),
           "%s: %s, not %s" % (tool.jdk, rules, wanted["rules"]))


@test("jfr opens", quick=True, lowest=17)
def opens(run):
    jvm = run.java("MixShares", 30)
    paths = [run.output(".jfr"), run.output(".collapsed")]
    json = run.output()
    scope = run.scope("-p", jvm.pid, "-d", 5, "-F", 199, "--chunk", "1s", "--no-progress", "-f",
                      json, *[word for path in paths for word in ("-f", path)])
    recording = run.finish(scope, json)
    count = total(recording.samples("cpu"))
    expect(count > 100, "%d samples only" % count)
    collapsed = sorted(paths[1].read_text().splitlines())
    for tool in tools():
        counts, chunks = tool.summary(paths[0])
        expect(sum(counts.get(name, 0) for name in SAMPLES) == count,
               "%s: not %d samples: %s" % (tool.jdk, count, counts))
        segments = counts.get("jdk.Checkpoint", counts.get("jdk.CheckPoint"))
        expect(chunks == 1 and 4 <= segments <= 6, "%d segments, %d chunks" % (segments, chunks))
        text = tool.run("print", paths[0])
        expect(len(re.findall("^jdk.(?:Execution|NativeMethod)Sample {", text, re.MULTILINE))
               == count, "%s: jfr print has another count" % tool.jdk)
        expect('"type": "jdk.ExecutionSample"' in tool.run("print", "--json", paths[0]),
               "%s: no sample in JSON" % tool.jdk)
        expect("class ExecutionSample" in tool.run("metadata", paths[0]), "no metadata")
        compare_lines(collapsed, collapse(tool.jdk, paths[0]), tool.jdk)
        check_rules(tool, paths[0], recording.raw["filter"])
        if tool.jdk.major >= 25:
            check_views(tool, paths[0], jvm.pid)
    run.note("%d samples, %d stacks, %d bytes" % (count, len(collapsed),
                                                  paths[0].stat().st_size))


def print_events(tool, path, *names):
    """[(name, fields, methods of the stack)], as a JDK reads them."""
    text = tool.run("print", "--json", "--stack-depth", "64", "--events", ",".join(names), path)
    events = []
    for event in loads(text)["recording"]["events"]:
        fields = event["values"]
        methods = [frame["method"] for frame in (fields.get("stackTrace") or {"frames": []})["frames"]]
        events.append((event["type"], fields, [
            "%s.%s" % (method["type"]["name"].replace("/", "."), method["name"])
            for method in methods]))
    return events


def check_mallocs(tool, path, truth):
    """As a reader of async-profiler's files: a Malloc without a Free lives."""
    events = print_events(tool, path, "profiler.Malloc", "profiler.Free")
    freed = {fields["address"] for name, fields, _ in events if name == "profiler.Free"}
    mallocs = [(fields["address"], fields["size"], methods)
               for name, fields, methods in events if name == "profiler.Malloc"]
    expect(len({address for address, _, _ in mallocs}) == len(mallocs), "an address twice")
    expect(freed <= {address for address, _, _ in mallocs}, "freed, but never allocated")
    for site, size in truth["live"].items():
        # Nothing but the function of JNI between Java and os::malloc: the VM itself allocates, too.
        live = sum(size for address, size, methods in mallocs
                   if "UnsafeSites." + site in methods and address not in freed and
                   any(name.startswith("jdk.internal.misc.Unsafe.") for name in methods[:3]))
        expect(live == size, "%s: %s: %d, not %d" % (tool.jdk, site, live, size))
    return len(events)


@test("jfr of native memory", lowest=17)
def native_memory(run):
    """Sites by both JDKs' tools, and what convert makes of the file, beside the JSON."""
    jvm = run.java("UnsafeSites", wait=True, hold=60)
    path = run.output(".jfr")
    recording, truth = run.record_all(jvm, "-e", "native,counter", "--max-overhead", "none",
                                      "--chunk", "1s", "-f", path)
    for tool in tools():
        events = check_mallocs(tool, path, truth)
        sites = print_events(tool, path, "jvmscope.NativeAllocation")
        allocated = sum(fields["count"] for _, fields, _ in sites
                        if fields["tag"] == "Other")
        expect(allocated == truth["allocations"], "%s: %d blocks" % (tool.jdk, allocated))
        usage = print_events(tool, path, "jdk.NativeMemoryUsage", "jdk.NativeMemoryUsageTotal")
        types = {fields.get("type") for _, fields, _ in usage}
        expect({"Java Heap", "Thread", "Other", None} <= types, "%s: %s" % (tool.jdk, types))
    for metric in ("native_alloc", "native_live", "vm_committed", "thread_stacks"):
        collapsed = run.output(".collapsed")
        scope = run.scope("convert", path, "-o", collapsed, "--metric", metric)
        expect(scope.wait(60) == 0, " | ".join(scope.err))
        found = sum(int(line.rpartition(" ")[2]) for line in collapsed.read_text().splitlines())
        wanted = sum(sample.value for sample in recording.samples(metric))
        expect(found == wanted, "%s: %d, not %d" % (metric, found, wanted))
    run.note("%d events of %d blocks, %d bytes" % (events, truth["allocations"],
                                                  path.stat().st_size))


@test("jfr by default", quick=True, each_jdk=False)
def by_default(run):
    jvm = run.java("MixShares", 30)
    scope = run.scope("-p", jvm.pid, "-d", 1, "-q", cwd=run.folder)
    expect(scope.wait(20) == 0, str(scope.err))
    found = list(run.folder.glob("*.jfr"))
    expect(len(found) == 1 and re.fullmatch(r"jvmscope-%d-\d{8}-\d{6}\.jfr" % jvm.pid,
                                            found[0].name), str(found))
    expect(tools()[0].samples(found[0]) > 0, "no samples")


@test("jfr of an idle JVM", quick=True, lowest=17)
def of_idle(run):
    """What a chunk has besides the samples is small, also with what a real JVM says of itself."""
    jvm = run.java("Idle", 30)
    path = run.output(".jfr")
    scope = run.scope("-p", jvm.pid, "-e", "cpu", "-d", 1, "-q", "-f", path)
    expect(scope.wait(20) == 0, str(scope.err))
    size = path.stat().st_size
    expect(size <= 48 << 10, "%d bytes" % size)
    expect(tools()[0].summary(path)[1] == 1, "not one chunk")
    run.note("%d bytes" % size)


@test("jfr to a pipe", quick=True, each_jdk=False)
def to_pipe(run):
    jvm = run.java("MixShares", 30)
    path = run.output(".jfr")
    with open(path, "wb") as out:
        pipe = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=out)
        scope = run.scope("-p", jvm.pid, "-d", 3, "-q", "--format", "jfr", "-f", "/dev/fd/%d" %
                          pipe.stdin.fileno(), "--chunk", "1s", pass_fds=[pipe.stdin.fileno()])
        expect(scope.wait(20) == 0, str(scope.err))
        pipe.stdin.close()
        pipe.wait(10)
    for tool in tools():
        expect(tool.samples(path) > 50, "too few samples")


def kill_once(run, jvm, chosen):
    """Kills a recorder some time after its first segment; the file must be readable."""
    path = run.output(".jfr")
    scope = run.scope("-p", jvm.pid, "-q", "-F", 997, "--chunk", "100ms", "-f", path)
    wait_until(path.exists, 20, "no file after the first segment", interval=0.01)
    time.sleep(chosen.uniform(0, 1.5))
    scope.signal(signal.SIGKILL)
    scope.wait(10)
    read = set()
    for tool in tools():
        counts = {name: count for name, count in
                  re.findall(r"^ (jdk\.\w+) +(\d+) ", tool.run("summary", path), re.MULTILINE)}
        read.add(tuple(counts.get(name, "0") for name in SAMPLES))
        # The first segment may be there before the first sample.
        has_samples = any(counts.get(name, "0") != "0" for name in SAMPLES)
        expect(bool(collapse(tool.jdk, path)) == has_samples, "%s: nothing in it" % tool.jdk)
    expect(len(read) == 1, "the JDKs read different numbers: %s" % read)


def kill_some(run, count):
    seed = int(time.time())
    run.note("seed %d" % seed)
    chosen = random.Random(seed)
    jvm = run.java("MixShares", 150)
    for _ in range(count):
        kill_once(run, jvm, chosen)


@test("jfr killed", quick=["3 times"], each_jdk=False, limit=300,
      params={"3 times": {"count": 3}, "20 times": {"count": 20}})
def killed(run, count):
    kill_some(run, count)


@contextlib.contextmanager
def small_disk(run, size):
    folder = run.folder / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%s" % size, "tmpfs", folder],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skip("no tmpfs can be mounted: %s" % done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


@test("jfr on a disk that becomes full", quick=True, each_jdk=False)
def disk_becomes_full(run):
    jvm = run.java("MixShares", 60)
    with small_disk(run, "160k") as folder:
        path = folder / "x.jfr"
        scope = run.scope("-p", jvm.pid, "-d", 20, "-q", "-F", 997, "--chunk", "200ms", "-f", path)
        status = scope.wait(30)
        expect(status == 1, "status %s: %s" % (status, scope.err))
        expect(len(scope.err) == 1 and "No space left" in scope.err[0] and str(path) in
               scope.err[0], str(scope.err))
        for tool in tools():
            expect(tool.samples(path) > 0, "no samples in what was before")
        expect([entry.name for entry in folder.iterdir()] == ["x.jfr"], "a temporary is left")
        run.note(scope.err[0])


@test("jfr keeps the newest", each_jdk=False,
      params={"size": {"option": ("--max-size", "1M"), "durations": ("2 s", "3 s", "4 s", "5 s")},
              "age": {"option": ("--max-age", "2s"), "durations": ("2 s",)}})
def keeps_newest(run, option, durations):
    jvm = run.java("MixShares", 60)
    path = run.output(".jfr")
    scope = run.scope("-p", jvm.pid, "-d", 7, "-q", "--chunk", "100ms", "-f", path, *option)
    largest = 0
    while scope.process.poll() is None:
        if path.exists():
            largest = max(largest, path.stat().st_size)
        time.sleep(0.05)
    expect(scope.wait(5) == 0, str(scope.err))
    expect(largest <= 1 << 20, "the file had %d bytes" % largest)
    for tool in tools():
        _, chunks = tool.summary(path)
        expect(8 <= chunks <= 32, "%d chunks" % chunks)
        duration = re.search("Duration: (.*)", tool.run("summary", path)).group(1)
        expect(duration in durations, "it is %s long" % duration)
    run.note("%d chunks, %s" % (chunks, duration))


@test("jfr of several GiB", each_jdk=False, limit=600)
def several_gib(run):
    writer = jdks.BUILD / "jfr_make"
    path = run.output(".jfr")
    free = subprocess.run(["df", "--output=avail", "-B1", run.folder], capture_output=True,
                          text=True, check=True)
    if int(free.stdout.split()[-1]) < 6 << 30:
        raise Skip("less than 6 GiB are free")
    said = subprocess.run([writer, "large", path, str(4500 << 20)], capture_output=True, text=True,
                          timeout=300, check=False)
    expect(said.returncode == 0, said.stderr)
    expect(path.stat().st_size > 4 << 30, "%d bytes" % path.stat().st_size)
    samples, chunks = map(int, said.stdout.split()[:2])
    for tool in tools():
        counts, seen = tool.summary(path)
        expect(counts["jdk.ExecutionSample"] == samples and seen == chunks,
               "%s: %s in %d chunks, not %d in %d" % (tool.jdk, counts, seen, samples, chunks))
    run.note("%d samples in %d chunks, %d bytes" % (samples, chunks, path.stat().st_size))
