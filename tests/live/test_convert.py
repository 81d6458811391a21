# SPDX-License-Identifier: Apache-2.0
"""Native memory, its budget and the ledger, converted: each format has what was recorded."""
import json

from harness import expect
from suite import test


def named(value, stacks):
    """A value in a form that sorts, with the frames of its stack in place of a number."""
    if isinstance(value, dict):
        return tuple((key, stacks[inner] if key == "stack" and inner is not None
                      else named(inner, stacks)) for key, inner in sorted(value.items()))
    if isinstance(value, list):
        return tuple(named(inner, stacks) for inner in value)
    return value


def stack_texts(raw):
    """Stacks as texts; rules are those of whoever converts, and lines differ in no frame."""
    strings = raw["strings"] + [""]
    frames = ["%s %s %s %s" % (row[0], strings[-1 if row[1] is None else row[1]], row[2], row[3])
              for row in raw["frames"]]
    return [" ".join([state] + [frames[frame] for frame in stack])
            for stack, state in zip(raw["stacks"], raw["stack_states"])]


def rows(raw):
    """All rows of the sections of memory, sorted: (section, list, row)."""
    stacks = stack_texts(raw)
    found = []
    for section in ("native", "budget", "timeline"):
        for name, value in raw[section].items():
            for row in value if isinstance(value, list) else [value]:
                found.append((section, name, named(row, stacks)))
    return sorted(found, key=repr)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def expect_same(wanted, raw, what):
    a, b = rows(wanted), rows(raw)
    lost, more = [row for row in a if row not in b], [row for row in b if row not in a]
    expect(a == b, "%s: %d of %d rows differ\n%s\n%s" % (what, len(lost), len(a), lost[:2],
                                                         more[:2]))


def convert(run, source, suffix):
    path = run.output(suffix)
    scope = run.scope("convert", source, "-o", path)
    expect(scope.wait(60) == 0, " | ".join(scope.err))
    return path


def totals(raw, metrics):
    """Totals of some metrics, sorted: (metric, JVM, stack, thread, label, count, value)."""
    stacks, found = stack_texts(raw), []
    for profile in raw["profiles"]:
        for stack, thread, label, count, value in profile["samples"]:
            found.append((profile["metric"], profile["jvm"],
                          "" if stack is None else stacks[stack],
                          None if thread is None else raw["threads"][thread]["tid"],
                          None if label is None else raw["strings"][label], count, value))
    return sorted((row for row in found if row[0] in metrics), key=repr)


def expect_totals(run, recording, path, metrics):
    """
    What a recording in JFR has of these metrics is what the JSON of the same run has. There must be
    something of the first one.
    """
    wanted = totals(recording.raw, metrics)
    from_jfr = convert(run, path, ".json")
    again = convert(run, convert(run, from_jfr, ".jfr"), ".json")
    for source in (from_jfr, again):
        got = totals(load(source), metrics)
        lost, more = [r for r in wanted if r not in got], [r for r in got if r not in wanted]
        expect(wanted == got, "%d of %d totals differ: %s %s" % (len(lost), len(wanted), lost[:2],
                                                               more[:2]))
    seen = {row[0] for row in wanted}
    expect(metrics[0] in seen, "no %s: nothing was compared" % metrics[0])
    for metric in seen:
        output = run.output(".collapsed")
        scope = run.scope("convert", path, "-o", output, "--metric", metric)
        expect(scope.wait(60) == 0, " | ".join(scope.err))
        value = sum(int(line.rsplit(" ", 1)[1]) for line in output.read_text().splitlines())
        all_ = sum(row[-1] for row in wanted if row[0] == metric)
        expect(value == all_, "collapsed of %s: %d, not %d" % (metric, value, all_))
    run.note("%d totals converted" % len(wanted))


def without_threads(raw, section):
    """Rows, sorted; threads are numbered in the order they are come across."""
    stacks = stack_texts(raw)
    rows_of = [{key: value for key, value in row.items() if key not in ("thread", "parent")}
               for row in raw[section]]
    return sorted((named(row, stacks) for row in rows_of), key=repr)


def threads_of(raw, section):
    """(time, tid of the thread) of each row, sorted."""
    return sorted((row.get("time_ns", row.get("start_time_ns")), raw["threads"][row["thread"]]["tid"])
                  for row in raw[section])


def expect_rows(run, recording, path, section):
    """The same of rows that are no totals."""
    from_jfr = convert(run, path, ".json")
    expect(recording.raw[section], "no %s: nothing was compared" % section)
    for source in (from_jfr, convert(run, convert(run, from_jfr, ".jfr"), ".json")):
        document = load(source)
        for of in (without_threads, threads_of):
            wanted, got = of(recording.raw, section), of(document, section)
            expect(wanted == got, "%s: %s differ: %s" % (section, of.__name__, [
                pair for pair in zip(wanted, got) if pair[0] != pair[1]][:2]))
    run.note("%d %s converted" % (len(recording.raw[section]), section))


def blocks(path):
    """The paragraphs of a text, sorted: sites of one size are in any order."""
    return sorted(path.read_text().split("\n\n"))


def check_converted(run, jvm, *arguments):
    """Records to all formats at once, and converts each of them to the others."""
    path, text = run.output(".jfr"), run.output(".nmt.txt")
    recording, _ = run.record_all(jvm, "--chunk", "1s", "-f", path, "-f", text, *arguments)
    from_jfr = convert(run, path, ".json")
    expect_same(recording.raw, load(from_jfr), "jfr to json")
    again = convert(run, from_jfr, ".jfr")
    expect_same(recording.raw, load(convert(run, again, ".json")), "json to jfr to json")
    expect_same(recording.raw, load(convert(run, from_jfr, ".json")), "json to json")
    for source in (path, from_jfr, again):
        expect(blocks(convert(run, source, ".nmt.txt")) == blocks(text), "nmt of %s" % source)
    return recording


@test("native memory converted", quick=True)
def native_converted(run):
    jvm = run.java("UnsafeSites", flags=["-XX:NativeMemoryTracking=summary"], wait=True, hold=60)
    recording = check_converted(run, jvm, "-e", "native,counter", "--max-overhead", "none")
    native = recording.raw["native"]
    # Else nothing was compared.
    for name in ("sites", "calls", "suspects", "counts", "by_tag", "ledger", "ledger_parts",
                 "ledger_readings", "nmt", "uncovered"):
        expect(native[name], "no %s" % name)
    run.note("%d rows" % len(rows(recording.raw)))


@test("native memory within a budget converted", limit=300)
def budget_converted(run):
    jvm = run.java("AllocStorm", 8, 2, wait=True, hold=60)
    recording = check_converted(run, jvm, "-e", "native,class,counter", "--max-overhead", "1")
    budget = recording.raw["budget"]
    expect(budget["events"], "the budget was kept without a change: %s" % budget["jvms"])
    run.note("%d rows, %d changes" % (len(rows(recording.raw)), len(budget["events"])))
