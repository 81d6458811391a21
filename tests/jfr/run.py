#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Tests of reading recordings: the good ones of data/ against the JDK's own reader, broken and hostile
ones against their limits, and jvmscope convert between its formats.

usage: run.py [--full] [NAME]...       NAME: the first words of a test
JVMSCOPE_JFR_DATA: a folder of more recordings, good and broken, with the values they have; --full
reads them all.
The last line is "jfr: N passed, N failed, N skipped".
"""
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("BUILD", ROOT / ".build")).resolve()
sys.path.insert(0, str(HERE))

import broken  # noqa: E402
import compare  # noqa: E402

SCOPE = BUILD / "jvmscope"
TOTALS = BUILD / "jfr_totals"
CHECKED = BUILD / "asan" / "jfr_totals"  # the same under sanitizers
PROTO = Path("/usr/share/gocode/src/github.com/google/pprof/proto")
GOOD = sorted((HERE / "data").glob("*.expect.json"))
MORE = Path(os.environ.get("JVMSCOPE_JFR_DATA", ROOT / "../shared/data/jfr"))
LIMIT_S = 1.0


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def good(name):
    return gzip.decompress((HERE / "data" / (name + ".jfr.gz")).read_bytes())


def run(arguments, limit=60, **options):
    """(status, standard output, standard error, seconds of CPU, peak memory in bytes)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([str(a) for a in arguments], stdout=out, stderr=err, **options)
        deadline = time.monotonic() + limit
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        while not pid:
            if time.monotonic() > deadline:
                child.kill()
                os.wait4(child.pid, 0)
                raise Failure("%s: not done in %d s" % (arguments[0], limit))
            time.sleep(0.002)
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (child.returncode, out.read(), err.read().decode(),
                usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def convert(*arguments, **options):
    return run([SCOPE, "convert", *arguments], **options)


def converted(source, suffix, folder, *arguments):
    """The bytes of source in another format."""
    path = folder / ("converted" + suffix)
    status, _, err, _, _ = convert(source, "-o", path, *arguments)
    expect(status == 0, "convert %s -o %s: status %s: %s" % (source, path, status, err))
    return path.read_bytes()


# ---- good recordings

def test_good(folder, name):
    del folder
    path = next(p for p in GOOD if p.name.startswith(name))
    comparison, _ = compare.compare_file(str(CHECKED), path)
    expect(not comparison.errors, "; ".join(comparison.errors))


def test_packed(folder, name):
    """Plain, by a pipe, and packed: the same totals."""
    data = good(name)
    plain = folder / "plain.jfr"
    plain.write_bytes(data)
    expected = run([TOTALS, plain])[1]
    with open(plain, "rb") as pipe:
        cat = subprocess.Popen(["cat"], stdin=pipe, stdout=subprocess.PIPE)
        expect(run([TOTALS, "-"], stdin=cat.stdout)[1] == expected, "by a pipe")
        cat.stdout.close()
        cat.wait()
    two = folder / "two.jfr.gz"
    two.write_bytes(gzip.compress(data[:100000]) + gzip.compress(data[100000:]))
    expect(run([TOTALS, two])[1] == expected, "two members of gzip")
    cut = folder / "cut.jfr.gz"
    cut.write_bytes(gzip.compress(data)[:-5000])
    status, _, err, _, _ = run([TOTALS, cut])
    expect(status == 0 and "offset" in err, "cut gzip: %s %s" % (status, err))
    if not shutil.which("zstd"):
        raise Skip("no zstd here; gzip and pipes are right")
    subprocess.run(["zstd", "-q", plain, "-o", folder / "plain.jfr.zst"], check=True)
    expect(run([TOTALS, folder / "plain.jfr.zst"])[1] == expected, "zstd")


def test_more(folder):
    """Recordings that are not in the tree, most of them large: every value, and the limits."""
    del folder
    found = sorted(MORE.glob("*.expect.json"))
    if not found:
        raise Skip("no recordings in %s" % MORE)
    for path in found:
        for binary in (CHECKED, TOTALS):
            comparison, _ = compare.compare_file(str(binary), path)
            expect(not comparison.errors, "%s: %s" % (path.name, "; ".join(comparison.errors)))


# ---- broken ones

def events_of(output):
    text = output.decode()
    return int(re.search(r'"events_all":(\d+)', text).group(1)) if text else 0


def test_broken(folder, name):
    data = good("g1-17")
    bytes_, words, first_is_whole = broken.from_good(data)[name]
    offset, size = broken.chunks(data)[0]
    path = folder / "broken.jfr"
    path.write_bytes(data[offset:size])
    whole = events_of(run([TOTALS, path])[1])
    path.write_bytes(bytes_)
    status, out, err, seconds, _ = run([CHECKED, path])
    expect(status in (0, 1) and "Sanitizer" not in err, "status %s: %s" % (status, err))
    if first_is_whole:
        expect(events_of(out) >= whole, "%d events, %d in the first chunk" % (events_of(out), whole))
    _, _, _, seconds, memory = run([TOTALS, path])
    check_limits(seconds, memory, len(bytes_))
    status, _, err, _, _ = convert(path, "-o", folder / "out.collapsed")
    for word in words:
        expect(word in err, "'%s' is not in: %s" % (word, err))
    if not first_is_whole and words:
        expect(status == 1 and len(err.splitlines()) == 1, "status %s: %s" % (status, err))
    if words:
        status, _, err, _, _ = convert(path, "-o", folder / "out.collapsed", "--strict")
        expect(status == 1 or "clock" in words, "--strict: status %s: %s" % (status, err))


def check_limits(seconds, memory, size):
    expect(seconds <= LIMIT_S, "%.2f s" % seconds)
    limit = (64 << 20) + 4 * size
    expect(memory <= limit, "%d bytes of memory for a file of %d" % (memory, size))


def in_child(work, path):
    """
    Done in a process of its own, since the memory of this one counts as that of the commands it
    starts. Returns the size of the file that was made.
    """
    pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    expect(os.waitpid(pid, 0)[1] == 0, "%s was not made" % path)
    return path.stat().st_size


def test_hostile(folder, name):
    path = folder / "hostile.jfr"
    size = in_child(lambda: path.write_bytes(broken.HOSTILE[name]()), path)
    status, _, err, _, _ = run([CHECKED, path])
    expect(status in (0, 1) and "Sanitizer" not in err, "status %s: %s" % (status, err[-2000:]))
    commands = [[SCOPE, "convert", path, "-o", folder / "out.json"]]
    # The writer needs samples, of which each takes some 100 bytes.
    if "samples" not in name:
        commands.append([SCOPE, "convert", path, "-o", folder / "out.jfr"])
    for command in commands:
        status, _, err, seconds, memory = run(command)
        expect(status in (0, 1), "status %s: %s" % (status, err))
        check_limits(seconds, memory, size)


def test_damage(folder, first, count):
    """Files with some bytes changed: no crash, no hang."""
    path = folder / "damaged.jfr"
    for number in range(first, first + count):
        data = broken.random_damage(good("zgc-25" if number % 2 else "g1-17"), number)
        path.write_bytes(data)
        status, _, err, _, _ = run([CHECKED, path])
        expect(status in (0, 1) and "Sanitizer" not in err,
               "number %d: status %s: %s" % (number, status, err[-2000:]))
        status, _, err, seconds, memory = convert(path, "-o", folder / "out.collapsed")
        expect(status in (0, 1), "number %d: status %s: %s" % (number, status, err))
        check_limits(seconds, memory, len(data))


# ---- convert

def counts(collapsed):
    return sum(int(line.rsplit(b" ", 1)[1]) for line in collapsed.splitlines())


def test_formats(folder, name):
    """Every way from one format to another gives the same stacks."""
    source = folder / "source.jfr"
    source.write_bytes(good(name))
    collapsed = converted(source, ".collapsed", folder)
    expect(counts(collapsed) > 10, "%d samples" % counts(collapsed))
    for suffix in (".json", ".jfr", ".collapsed"):
        between = folder / ("between" + suffix)
        between.write_bytes(converted(source, suffix, folder))
        again = converted(between, ".collapsed", folder)
        expect(again == collapsed, "by way of %s: other stacks" % suffix)
        same = converted(between, suffix, folder)
        expect(suffix == ".jfr" or same == between.read_bytes(), "%s to itself differs" % suffix)
    check_schema(folder / "between.json")


def check_schema(path):
    checker = ROOT / "tests" / "golden" / "schema.py"
    status, out, err, _, _ = run([sys.executable, checker, path])
    expect(status == 0, out.decode() + err)


def test_pprof(folder, name):
    source = folder / "source.jfr"
    source.write_bytes(good(name))
    total = counts(converted(source, ".collapsed", folder))
    packed = converted(source, ".pb.gz", folder)
    decoded = subprocess.run(
        ["protoc", "--decode", "perftools.profiles.Profile", "-I", PROTO, "profile.proto"],
        input=gzip.decompress(packed), stdout=subprocess.PIPE, check=True).stdout.decode()
    samples = re.findall(r"^sample \{\n(?:  location_id: \d+\n)+  value: (\d+)\n  value: (\d+)",
                         decoded, re.M)
    expect(sum(int(row[0]) for row in samples) == total, "samples")
    locations = set(re.findall(r"^location \{\n  id: (\d+)", decoded, re.M))
    expect(set(re.findall(r"location_id: (\d+)", decoded)) <= locations, "a location is missing")
    functions = set(re.findall(r"^function \{\n  id: (\d+)", decoded, re.M))
    expect(set(re.findall(r"function_id: (\d+)", decoded)) <= functions, "a function is missing")


def filtered(source, folder, *arguments):
    """(what the JSON says of the rules, samples of each stack with its frames' kinds and names)"""
    document = json.loads(converted(source, ".json", folder, *arguments))
    strings, frames = document["strings"], document["frames"]
    named = [(frame[0], strings[frame[1]] if frame[1] is not None else "") for frame in frames]
    stacks = []
    for profile in document["profiles"]:
        if profile["metric"] != "cpu":
            continue
        for row in profile["samples"]:
            stack = [] if row[0] is None else document["stacks"][row[0]]
            stacks.append((row[3], [named[frame] for frame in stack]))
    return document["filter"], stacks


JAVA = ("interpreted", "c1", "c2", "inlined", "native")


def has_application(stack):
    return any(kind in JAVA and not name.startswith(("java.", "jdk.")) for kind, name in stack)


def test_filter(folder, name):
    """The rules do with a file that is read what they do with a JVM that is recorded."""
    source = folder / "source.jfr"
    source.write_bytes(good(name))
    rules = folder / "some.trie"
    rules.write_text("7 java.*\n8 jdk.*\n")
    modes = {mode: filtered(source, folder, "--trie", rules, "--filter", mode)
             for mode in ("mark", "fold", "drop", "off")}
    all_, plain = modes["off"]
    total = sum(count for count, _ in plain)
    expect(all_["mode"] == "off" and not all_["rules"], str(all_))
    mark, marked = modes["mark"]
    expect(sorted(marked) == sorted(plain), "mark changes stacks")
    expect(mark["mode"] == "mark" and mark["trie"] == str(rules) and
           any(rule["number"] == 7 and rule["frames"] for rule in mark["rules"]), str(mark))
    _, folded = modes["fold"]
    names = {frame[1] for _, stack in folded for frame in stack}
    expect(sum(count for count, _ in folded) == total, "fold loses samples")
    expect("[library]" in names and not any(n.startswith("java.") for n in names), "not folded")
    drop, kept = modes["drop"]
    left = sum(count for count, _ in kept)
    expect(left == sum(count for count, stack in plain if has_application(stack)), "kept others")
    expect(drop["samples"]["dropped"] == total - left, "%s, %d left of %d" % (
        drop["samples"], left, total))
    expect(all(has_application(stack) for _, stack in kept), "no application frame: %s" % kept)
    dropped = folder / "dropped.jfr"
    dropped.write_bytes(converted(source, ".jfr", folder, "--trie", rules, "--filter", "drop"))
    _, again = filtered(dropped, folder, "--filter", "off")
    expect(sum(count for count, _ in again) == left, "the JFR file has others than the JSON")


def totals_of(document, metric):
    """By label: [count, value]."""
    found = {}
    for profile in document["profiles"]:
        for row in profile["samples"] if profile["metric"] == metric else []:
            label = None if row[2] is None else document["strings"][row[2]]
            sums = found.setdefault(label, [0, 0])
            sums[0] += row[3]
            sums[1] += row[4]
    return found


def check_events(document, truth):
    for metric, event, sum_ns in (
            ("lock_wait", "jdk.JavaMonitorEnter", truth["monitor_enter"]["total_ns"]),
            ("object_wait", "jdk.JavaMonitorWait", truth["monitor_wait_total_ns"]),
            ("park", "jdk.ThreadPark", truth["park_total_ns"])):
        rows = totals_of(document, metric).values()
        count, value = sum(row[0] for row in rows), sum(row[1] for row in rows)
        expect(count == truth["events"][event] and abs(value - sum_ns) <= count,
               "%s: %d of %d ns, in truth %d" % (metric, count, value, sum_ns))
    for metric, event in (("exception", "jdk.JavaExceptionThrow"),
                          ("deoptimization", "jdk.Deoptimization")):
        count = sum(row[0] for row in totals_of(document, metric).values())
        expect(count == truth["events"].get(event, 0), "%s: %d" % (metric, count))
    thrown = {label: row[0] for label, row in totals_of(document, "exception").items()}
    expect(thrown == truth["exceptions_by_class"], str(thrown))
    events = [row["event"] for row in document["thread_events"]]
    expect([events.count("start"), events.count("end")] ==
           [truth["events"]["jdk.ThreadStart"], truth["events"]["jdk.ThreadEnd"]], str(events))
    waits = totals_of(document, "lock_wait")
    expect({label: row[0] for label, row in waits.items()} == truth["monitor_enter"]["by_class"],
           str(waits))


def test_events(folder, name):
    """What happened at a moment is in totals, whatever formats it goes through."""
    truth = json.loads((HERE / "data" / (name + ".expect.json")).read_text())["totals"]
    source = folder / "source.jfr"
    source.write_bytes(good(name))
    for suffix in (".json", ".jfr", ".json"):
        between = folder / ("between" + suffix)
        between.write_bytes(converted(source, suffix, folder))
        check_events(json.loads(converted(between, ".json", folder)), truth)
        source = between


def test_lost(folder):
    """Samples that the JVM says it lost are counted, and --strict minds them."""
    source = folder / "source.jfr"
    for lost, strict_status in ((0, 0), (5, 1)):
        source.write_bytes(broken.with_lost_samples(good("zgc-25"), lost))
        quality = json.loads(converted(source, ".json", folder))["quality"]
        expect(quality["lost"] == ({"cpu_time_samples": lost} if lost else {}), str(quality))
        expect(quality["seen"] == quality["samples"] + lost, str(quality))
        status, _, err, _, _ = convert(source, "-o", folder / "out.json", "--strict")
        expect(status == strict_status, "%d lost: status %s: %s" % (lost, status, err))


def test_left_out(folder):
    """What is not converted, and a file that comes out empty, is said."""
    theirs = folder / "theirs.jfr"
    theirs.write_bytes(good("g1-17"))
    ours = ROOT / "tests" / "golden" / "full.json.expected"
    # What was recorded is said by the file; the lists of classes are not read.
    whole = json.loads(ours.read_text(encoding="utf-8"))
    whole["meta"]["events"] = ["cpu", "class"]
    lists = folder / "lists.json"
    lists.write_text(json.dumps(whole), encoding="utf-8")
    rows = [(lists, ".json", [], "left out"), (lists, ".jfr", [], "left out"),
            (ours, ".json", [], None), (ours, ".jfr", [], None),
            (ours, ".collapsed", [], None), (theirs, ".json", [], None),
            (theirs, ".collapsed", [], None),
            (theirs, ".collapsed", ["--metric", "native_alloc"], "no stacks of native_alloc")]
    for source, suffix, arguments, words in rows:
        status, _, err, _, _ = convert(source, "-o", folder / ("out" + suffix), *arguments)
        warnings = [line for line in err.splitlines() if "warning" in line]
        expect(status == 0 and len(warnings) == (words is not None),
               "%s to %s: status %s: %s" % (source.name, suffix, status, err))
        expect(words is None or words in warnings[0], "%s: %s" % (words, warnings))


def test_too_many(folder):
    """A recording holds 4,194,304 samples: the others are said, and --strict minds them."""
    source = folder / "source.jfr"
    in_child(lambda: source.write_bytes(broken.many_samples(4200000)), source)
    for arguments, strict_status in (([], 0), (["--strict"], 1)):
        status, _, err, _, _ = convert(source, "-o", folder / "out.jfr", *arguments)
        expect(status == strict_status and "5696 samples are more" in err,
               "status %s: %s" % (status, err))
    status, _, err, _, _ = convert(source, "-o", folder / "out.collapsed", "--strict")
    expect(status == 0 and "more" not in err, "status %s: %s" % (status, err))


USAGE = {
    "no file": [],
    "no output": ["in.jfr"],
    "two files": ["a.jfr", "b.jfr", "-o", "c.json"],
    "suffix": ["in.jfr", "-o", "out.txt"],
    "standard output without a format": ["in.jfr", "-o", "-"],
    "format": ["in.jfr", "-o", "out.json", "--format", "xml"],
    "mode of the filter": ["in.jfr", "-o", "out.json", "--filter", "some"],
}


def test_usage(folder, name):
    status, _, err, _, _ = convert(*USAGE[name], cwd=folder)
    expect(status == 2 and len(err.splitlines()) == 1, "status %s: %s" % (status, err))


def random_text():
    return b"{" + bytes(random.Random(1).choices(b"abcdefgh", k=50000))


def test_errors(folder):
    source = folder / "source.jfr"
    source.write_bytes(good("g1-17"))
    (folder / "text.txt").write_text("this is no recording\nat all 5x\n")
    (folder / "list.json").write_text("{\"a\": [1, 2]}")
    (folder / "deep.json").write_text("{\"a\": " + "[" * 100000)
    (folder / "cut.json.gz").write_bytes(gzip.compress(random_text())[:9000])
    rows = [("missing.jfr", "out.json", "No such file"), (folder, "out.json", "directory"),
            ("text.txt", "out.json", "no format"), ("list.json", "out.jfr", "no recording"),
            ("deep.json", "out.jfr", "no recording"), ("cut.json.gz", "out.jfr", "damaged or cut"), (source, "no/such/folder/out.json", "No such"),
            (source, "/dev/full", "No space")]
    for path, output, word in rows:
        status, _, err, _, _ = convert(path, "-o", output, "--format", "json", cwd=folder)
        expect(status == 1 and len(err.splitlines()) == 1 and word in err,
               "%s to %s: status %s: %s" % (path, output, status, err))
    (folder / "other name.jfr").symlink_to(source)
    status, _, err, _, _ = convert(source, "-o", folder / "other name.jfr")
    expect(status == 2 and "is the file that is read" in err, "onto itself: %s %s" % (status, err))
    expect(source.read_bytes() == good("g1-17"), "the file that was read is another now")
    status, out, err, _, _ = convert(source, "-o", "-", "--format", "collapsed", "-q")
    expect(status == 0 and counts(out) > 10 and not err, "to standard output: %s" % err)


def test_too_many_jvms(folder):
    """A recording holds 65,536 JVMs; one more stands for the others, and is none of them."""
    source = folder / "source.jfr"
    in_child(lambda: source.write_bytes(broken.jvms(65540)), source)
    jvms = json.loads(converted(source, ".json", folder))["jvms"]
    expect(len(jvms) == 65537 and jvms[65535]["pid"] == 65536, str(jvms[65535:]))
    expect(jvms[65536]["main_class"] == "(truncated)" and not jvms[65536]["pid"], str(jvms[65536]))


def tests(full):
    rows = []
    for path in GOOD:
        name = path.name[:-len(".expect.json")]
        rows += [("good, " + name, test_good, (name,)), ("packed, " + name, test_packed, (name,)),
                 ("formats, " + name, test_formats, (name,)), ("pprof, " + name, test_pprof, (name,)),
                 ("filter, " + name, test_filter, (name,)), ("events, " + name, test_events, (name,))]
    rows += [("more", test_more, ()), ("too many", test_too_many, ())] if full else []
    rows += [("JVMs", test_too_many_jvms, ()), ("lost", test_lost, ()), ("left out", test_left_out, ())]
    rows += [("broken, " + name, test_broken, (name,)) for name in broken.from_good(good("g1-17"))]
    rows += [("hostile, " + name, test_hostile, (name,)) for name in broken.HOSTILE
             if full or name not in broken.LARGE]
    rows += [("usage, " + name, test_usage, (name,)) for name in USAGE]
    rows += [("errors", test_errors, ())]
    rows += [("damage, from %d" % first, test_damage, (first, 10))
             for first in range(0, 300 if full else 20, 10)]
    return rows


def main():
    names = [a for a in sys.argv[1:] if a != "--full"]
    count = {"ok": 0, "FAILED": 0, "skipped": 0}
    for name, function, arguments in tests("--full" in sys.argv):
        if names and not any(name.startswith(n) for n in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            result, text = "ok", ""
            try:
                function(Path(folder), *arguments)
            except Skip as reason:
                result, text = "skipped", ": %s" % reason
            except Failure as failure:
                result, text = "FAILED", ": %s" % failure
        count[result] += 1
        if result != "ok" or names:
            print("%-7s %s%s" % (result, name, text), flush=True)
    print("jfr: %(ok)d passed, %(FAILED)d failed, %(skipped)d skipped" % count)
    return 1 if count["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
