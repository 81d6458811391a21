# SPDX-License-Identifier: Apache-2.0
"""Class-name rules: the command that builds them, and what they do to a recording."""
import gzip
import os
import random
import re
import resource
import struct
import subprocess
import time
from pathlib import Path

import jdks
from harness import SCOPE, Skip, expect
from recording import total
from suite import test

EXAMPLE = "1 io.x.*\n0 io.x.Hot\n2 jp\n"
VECTORS = Path(os.environ.get("JVMSCOPE_TRIE_VECTORS", jdks.ROOT / "../shared/data/trie"))


def call(*arguments, text=None, seconds=60):
    """Runs jvmscope trie; text is standard input. Returns (status, stdout, lines of stderr)."""
    stdin = text.encode() if isinstance(text, str) else text
    done = subprocess.run([SCOPE, "trie", *map(str, arguments)], input=stdin or b"",
                          capture_output=True, timeout=seconds, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").splitlines()


def good(*arguments, **options):
    status, out, err = call(*arguments, **options)
    expect(status == 0 and not err, "%s: status %d: %s" % (arguments, status, err[:3]))
    return out


def read_words(binary):
    """(units, long jumps) of the binary form."""
    expect(binary[:4] == b"\xdd\x09\x72\x13", "not the binary form: %r" % binary[:8])
    count, at, units = struct.unpack(">I", binary[4:8])[0], 8, []
    while len(units) < count:
        first = binary[at]
        size = 1 if first < 0x80 else 2 if first < 0xe0 else 3
        unit = first & (0x7f, 0x1f, 0x0f)[size - 1]
        for byte in binary[at + 1:at + size]:
            unit = unit << 6 | byte & 0x3f
        units.append(unit)
        at += size
    jumps = struct.unpack(">%dI" % struct.unpack(">I", binary[at:at + 4])[0], binary[at + 4:])
    return units, list(jumps)


# ---- the command

LOOKUPS = {
    "arguments": (["io.x.Hot", "io.x.Hot2", "io.x.", "io.x", "io/x/A", "jp", "jpa", ""], None, []),
    "lines": ([], "io.x.Hot\nio.x.Hot2\nio.x.\nio.x\nio/x/A\njp\njpa\n\n", []),
    "no newline at the end": ([], "io.x.Hot\nio.x.Hot2\nio.x.\nio.x\nio/x/A\njp\n\njpa", []),
    "escaped": (["io\\u002ex.Hot", "jp\\u0000"], None, ["--escaped"]),
    "from": (["-->io.x.A", "io.x.A", "->jp", "$$$jp", "jp"], None, ["--from", "3", "--"]),
}
ANSWERS = {"io.x.Hot": 0, "io.x.Hot2": 1, "io.x.": 1, "io/x/A": 1, "jp": 2, "io\\u002ex.Hot": 0,
           "-->io.x.A": 1, "$$$jp": 2}


@test("trie lookup", quick=True, each_jdk=False, needs_bpf=False,
      params={label: {"names": row[0], "lines": row[1], "options": row[2]}
              for label, row in LOOKUPS.items()})
def trie_lookup(run, names, lines, options):
    rules = run.output(".trie")
    rules.write_text(EXAMPLE)
    out = good("lookup", rules, *options, *names, text=lines).decode()
    asked = names or lines.removesuffix("\n").split("\n")
    answers = dict(ANSWERS, jp=-1) if "--from" in options else ANSWERS
    wanted = "".join("%s\t%d\n" % (name, answers.get(name, -1)) for name in asked)
    expect(out == wanted, "got %r, not %r" % (out, wanted))


# Arguments, what is on standard input, the status, and what the only line must hold.
WRONG = {
    "nothing": ([], "", 2, "build, lookup or dump"),
    "another word": (["frob", "x"], "", 2, "frob"),
    "no file": (["build"], "", 2, "no file"),
    "too many files": (["build", "a", "b"], "", 2, "b: unexpected"),
    "rules and names on standard input": (["lookup", "-"], "1 a\n", 2, "give names"),
    "an option of another word": (["lookup", "built-in", "-o", "x", "a"], "", 2, "--output is not"),
    "another form than text": (["dump", "built-in", "--format", "c"], "", 2, "--format is not"),
    "no characters": (["build", "built-in", "--from", "2"], "", 2, "--from is not"),
    "no such file": (["dump", "/nonexistent/a.trie"], "", 1, "/nonexistent/a.trie: No such"),
    "a folder": (["dump", "/"], "", 1, "/: Is a directory"),
    "suffix": (["build", "built-in", "-o", "x.foo"], "", 2, "x.foo"),
    "name": (["build", "built-in", "--format", "java", "--name", "1a"], "", 2, "--name 1a"),
    "full disk": (["build", "built-in", "--format", "c", "-o", "/dev/full"], "", 1,
                  "/dev/full: not written: No space left"),
    "no folder": (["build", "built-in", "-o", "/nonexistent/x.c"], "", 1, "/nonexistent/x.c"),
    "number": (["build", "-"], "1 ok\n  8192 a\n", 1, "standard input:2:3: "),
    "large number": (["build", "-"], "99999999999999999999 a\n", 1, "standard input:1:1: "),
    "star": (["build", "-"], "1 *\n", 1, "standard input:1:3: "),
    "name too long": (["build", "-"], "1 %s\n" % ("x" * 8192), 1, "standard input:1:3: "),
    "no UTF-8": (["build", "-"], b"1 a\n1 \xff\n", 1, "standard input:2:3: "),
    "cut short": (["dump", "-"], b"\xdd\x09\x72\x13\0\0\0\7abc", 1, "standard input: "),
    "bad escape": (["lookup", "built-in", "--escaped"], "a\nx\\y\n", 1, "standard input:2: "),
}


@test("trie says what is wrong", quick=True, each_jdk=False, needs_bpf=False,
      params={label: {"arguments": row[0], "text": row[1], "status": row[2], "words": row[3]}
              for label, row in WRONG.items()})
def trie_wrong(run, arguments, text, status, words):
    got, out, err = call(*arguments, text=text)
    expect(got == status, "status %d, not %d: %s" % (got, status, err))
    expect(len(err) == 1 and err[0].startswith("jvmscope: ") and words in err[0], str(err))
    expect(not out or arguments[0] == "lookup", "output in spite of the error: %r" % out[:40])
    run.note(err[0][:120])


ODD = {
    "CR LF": ("1 a.B\r\n2 c.D\r\n", "1 a.B\n2 c.D\n", 0),
    "CR": ("1 a.B\r2 c.D\r", "1 a.B\n2 c.D\n", 0),
    "no newline at the end": ("1 a.B\n2 c.D", "1 a.B\n2 c.D\n", 0),
    "byte order mark": ("\ufeff1 a.B\n2 c.D\n", "2 c.D\n1 \ufeff1\n", 2),
    "NUL": ("1 a\0B\n", "1 a\0B\n", 1),
    "empty": ("", "", 0),
    "only remarks": ("# nothing\n\n   \n", "", 0),
    "a number as a name": ("42\n", "1 42\n", 1),
    "a full stop": ("1. com.x.*\n", "1 1.\n", 2),
    "twice": ("1 a\n2 a\n", "2 a\n", 1),
}


@test("trie reads odd text", quick=True, each_jdk=False, needs_bpf=False,
      params={label: {"text": row[0], "rules": row[1], "warnings": row[2]}
              for label, row in ODD.items()})
def trie_odd_text(run, text, rules, warnings):
    status, out, err = call("dump", "-", text=text)
    expect(status == 0, "status %d: %s" % (status, err))
    expect(len(err) == warnings and all(" warning: standard input:" in line for line in err), str(err))
    expect(out.decode() == rules, "%r, not %r" % (out.decode(), rules))


@test("trie forms are one another's", quick=True, each_jdk=False, needs_bpf=False)
def trie_forms(run):
    path = run.output(".trie")
    path.write_text(EXAMPLE)
    binary, text = run.output(".bin"), run.output(".trie")
    for source in (path, "built-in"):
        good("build", source, "-o", binary)
        good("build", binary, "-o", text)
        expect(good("build", text, "--format", "binary") == binary.read_bytes(), "binary differs")
        expect(good("dump", binary) == text.read_bytes(), "dump differs")
    constant = run.output(".c")
    good("build", path, "-o", constant, "--name", "mine")
    done = subprocess.run(["cc", "-xc", "-std=gnu17", "-I", jdks.ROOT, "-o", run.folder / "constant",
                           "-include", constant, "-"], capture_output=True, text=True, check=False,
                          input='#include <stdio.h>\nint main(void)\n{\n'
                          'for (unsigned i = 0; i < mine.count; i++) printf("%x ", mine.units[i]);\n}')
    expect(done.returncode == 0, done.stderr)
    out = subprocess.run([run.folder / "constant"], capture_output=True, text=True, check=True).stdout
    good("build", path, "-o", binary)
    expect(out.split() == ["%x" % unit for unit in read_words(binary.read_bytes())[0]], out)


def long_rules():
    """More units than a direct jump can cross, and characters that source text must escape."""
    fill = "abcdefghij" * 800
    lines = ["1 a%s%s" % (chr(65 + i), fill) for i in range(10)]
    lines += ["2 bcd", "3 c\\u0041\\\\\"'.*", "4 c\u00ff\u0100\u07ff\u0800\uffff1", "5 c\U0001d518x*",
              "6 \uac00%s" % fill, "7 z9", "8191 \uffff"]
    return "\n".join(lines) + "\n"


JAVA_SETS = {"built-in": None, "long jumps": long_rules, "example": lambda: EXAMPLE, "none": str}


@test("trie as Java source", quick=("all", True), needs_bpf=False,
      params={label: {"rules": rules} for label, rules in JAVA_SETS.items()})
def trie_java(run, rules):
    """Compiled by javac and read back, the units and long jumps are those of the binary form."""
    if not run.jdk.javac.exists():
        raise Skip("no javac")
    source = run.folder / "MyRules.java"
    path = "built-in"
    if rules:
        path = run.output(".trie")
        path.write_text(rules(), encoding="utf-8")
    good("build", path, "-o", source, "--name", "some.where.MyRules")
    units, jumps = read_words(good("build", path, "--format", "binary"))
    subprocess.run([run.jdk.javac, "-Xlint:all", "-Werror", "-d", run.folder, source], check=True)
    done = subprocess.run([*run.jdk.command(), "-cp", "%s:%s" % (run.folder, run.jdk.class_path()),
                           "TrieRead", "some.where.MyRules"], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 0, done.stderr)
    lines = [line.split()[1:] for line in done.stdout.splitlines()]
    expect(lines[0] == ["%x" % unit for unit in units], "the units differ")
    expect(lines[1] == ["%x" % jump for jump in jumps], "the long jumps differ: %s" % lines[1])
    expect(bool(jumps) == (rules is long_rules), "%d long jumps" % len(jumps))
    run.note("%d units, %d long jumps" % (len(units), len(jumps)))


def vector(kind, name):
    path = VECTORS / kind / name
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()


@test("trie vectors", quick=True, each_jdk=False, needs_bpf=False)
def trie_vectors(run):
    """Every set by the command line: built from text and from the binary form, and looked up."""
    if not VECTORS.is_dir():
        raise Skip("no vectors (JVMSCOPE_TRIE_VECTORS)")
    asked = 0
    sets = sorted(path.name.split(".")[0] for path in (VECTORS / "rules").iterdir())
    for name in sets:
        rules, binary, own = run.output(".trie"), run.output(".bin"), run.output(".bin")
        rules.write_bytes(vector("rules", name + ".trie"))
        binary.write_bytes(vector("encoded", name + ".bin"))
        call("build", rules, "-o", own)
        units, jumps = read_words(own.read_bytes())
        expect(len(read_words(binary.read_bytes())[0]) == len(units), "%s: size" % name)
        if not jumps:
            expect(own.read_bytes() == binary.read_bytes(), "%s: the binary form differs" % name)
        rows = [line.split(b"\t") for line in vector("expect", name + ".tsv").split(b"\n")[:-1]]
        for start in sorted({row[2] for row in rows if len(row) > 2} | {b"0"}):
            part = [row for row in rows if (row[2] if len(row) > 2 else b"0") == start]
            names = b"".join(row[0] + b"\n" for row in part)
            wanted = b"".join(b"%s\t%s\n" % (row[0], row[1]) for row in part)
            for built in (own, binary):
                out = good("lookup", built, "--escaped", "--from", start.decode(), text=names)
                expect(out == wanted, "%s from %s differs" % (name, start))
            asked += len(part)
    run.note("%d sets, %d names" % (len(sets), asked))


def manual(before, end):
    """What docs/trie.md has between two lines."""
    return (jdks.ROOT / "docs/trie.md").read_text().split(before, 1)[1].split(end, 1)[0]


@test("trie as the manual says", quick=True, each_jdk=False, needs_bpf=False)
def trie_manual(run):
    """Its examples and its list of mistakes."""
    rules = run.output(".trie")
    rules.write_text(manual("## Writing rules\n\n```\n", "```"))
    session = manual("in `my.trie`:\n\n```\n$ jvmscope trie lookup my.trie ", "```").split("\n", 1)
    out = good("lookup", rules, *(name.strip("'") for name in session[0].split())).decode()
    expect(out == session[1], "%r, not %r" % (out, session[1]))

    mistakes = [line.split(" | ")[0].removeprefix("| ").strip("`")
                for line in manual("| line | is read as |\n| --- | --- |\n", "\n\n").split("\n")]
    expect(len(mistakes) == 6, str(mistakes))
    for line in mistakes[:4]:
        status, _, err = call("dump", "-", text=line + "\n")
        expect(status == 0 and err and all(" warning: " in text for text in err),
               "%s: status %d, %s" % (line, status, err))

    rules.write_text(EXAMPLE)
    units = re.findall(r"\b[0-9a-f]{4}\b", manual("become 20 units:\n\n```\n", "```"))
    binary = read_words(good("build", rules, "--format", "binary"))[0]
    expect(units == ["%04x" % unit for unit in binary], "%s" % units)
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")][1:]
            for line in manual("The answer is 1.\n\n", "\n\n").split("\n")]
    names = ["" if name == "(empty)" else name for name in rows[0]]
    out = good("lookup", rules, text="".join(name + "\n" for name in names)).decode()
    numbers = ["-1" if number == "none" else number for number in rows[2]]
    expect(out == "".join("%s\t%s\n" % pair for pair in zip(names, numbers)), out)


@test("trie of a million rules", each_jdk=False, needs_bpf=False)
def trie_million(run):
    """At most 2 s and 512 MiB, reading and writing the files with it."""
    choose = random.Random(1)
    rules, built = run.output(".trie"), run.output(".bin")
    with rules.open("w") as out:
        for number in range(1000000):
            out.write("%d com.p%d.q%d.r%d.Class%d%s\n" % (
                choose.randrange(8192), choose.randrange(300), choose.randrange(300),
                choose.randrange(300), number, "" if number % 3 else ".*"))
    best = 1e9
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        good("build", rules, "-o", built)
        best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    expect(best <= 2, "%.2f s of CPU" % best)
    child = subprocess.run(["sh", "-c", "ulimit -v 524288; exec %s trie build %s -o %s" % (
        SCOPE, rules, built)], capture_output=True, text=True, check=False)
    expect(child.returncode == 0, "in 512 MiB of address space: %s" % child.stderr)
    names = [line.split()[1].rstrip("*") for line in rules.read_text().splitlines()[::1000]]
    out = good("lookup", built, text="\n".join(names) + "\n").decode().splitlines()
    expect(len(out) == 1000 and not any(line.endswith("\t-1") for line in out), "names are missing")
    run.note("%.2f s of CPU, %d bytes" % (best, built.stat().st_size))


@test("trie of random words", quick=True, each_jdk=False, needs_bpf=False)
def trie_random_words(run):
    """Words that are no trie: one line that says so, or an answer, and always an end."""
    choose = random.Random(7)
    whole = good("build", "-", "--format", "binary", text=EXAMPLE)
    accepted = 0
    end = time.monotonic() + 8
    rounds = 0
    while rounds < 400 and time.monotonic() < end:
        rounds += 1
        words = bytearray(whole)
        for _ in range(1 + choose.randrange(3)):
            words[choose.randrange(4, len(words))] = choose.randrange(256)
        if choose.randrange(4) == 0:
            words = words[:8] + bytes(choose.randrange(1, 128) for _ in range(choose.randrange(40)))
        status, out, err = call("lookup", "/dev/stdin", "io.x.Hot", "jp", text=bytes(words), seconds=5)
        expect(status in (0, 1), "status %d: %s" % (status, err))
        expect((status == 0 and len(out.splitlines()) == 2) or (status == 1 and len(err) == 1),
               "%r: %s" % (bytes(words), err))
        accepted += status == 0
    run.note("%d rounds, %d accepted" % (rounds, accepted))


# ---- recordings

def check_filter(recording, mode):
    """The numbers of the filter object add up, and each frame has the number of its rule."""
    found = recording.raw["filter"]
    samples = recording.quality["samples"]
    split = found["samples"]
    expect(found["mode"] == mode, "mode %s" % found["mode"])
    expect(split["application"] + split["library"] + split["no_java"] == samples,
           "%s of %d samples" % (split, samples))
    expect(total(recording.samples()) + split["dropped"] == samples, "dropped %s" % split)
    for frame in recording.frames:
        if frame.number is not None:
            expect(found["rules"][frame.rule]["number"] == frame.number, str(frame))
            expect(frame.is_java, "a rule of %s" % (frame,))
    return found


def frames_by_rule(recording, rule):
    return sum(sample.count * sum(frame.rule == rule for frame in sample.frames)
               for sample in recording.samples())


@test("filter marks", quick=True, each_jdk=False)
def filter_mark(run):
    jvm = run.java("MixShares", 30)
    recording = run.record(jvm.pid, 2, "-F", 499)
    found = check_filter(recording, "mark")
    expect(found["trie"] == "built-in" and found["samples"]["dropped"] == 0, str(found))
    for frame in recording.frames:
        if frame.is_java and frame.method:
            wanted = 1 if frame.method.startswith(("java.", "jdk.", "sun.")) else None
            expect(frame.number == wanted, "%s: %s" % (frame.method, frame.number))
    for number, rule in enumerate(found["rules"]):
        expect(frames_by_rule(recording, number) == rule["frames"], "%s" % rule)
    expect(found["rules"], "no rule matched")
    # What a class is called in the list of rules is what the command says of it.
    names = {frame.raw_class or frame.method.rpartition(".")[0] for frame in recording.frames
             if frame.is_java and frame.method}
    out = good("lookup", "built-in", text="".join(name + "\n" for name in sorted(names))).decode()
    numbers = dict(line.split("\t") for line in out.splitlines())
    for frame in recording.frames:
        if frame.is_java and frame.method:
            name = frame.raw_class or frame.method.rpartition(".")[0]
            number = -1 if frame.number is None else frame.number
            expect(numbers[name] == str(number), "%s: %s, %s" % (name, number, numbers[name]))
    run.note("%s" % found["rules"])


MODES = {
    "fold": ("fold", None, True),
    "drop": ("drop", None, True),
    "drop of what the rules call library": ("drop", "1 MixShares*\n1 java.*\n1 jdk.*\n", False),
    "no rules": ("drop", "none", True),
}


@test("filter", quick=["fold", "drop"], each_jdk=False,
      params={label: {"mode": row[0], "rules": row[1], "stays": row[2]}
              for label, row in MODES.items()})
def filter_modes(run, mode, rules, stays):
    jvm = run.java("MixShares", 30)
    arguments = ["--filter", mode]
    if rules:
        path = run.output(".trie")
        path.write_text(rules)
        arguments += ["--trie", "none" if rules == "none" else path]
    recording = run.record(jvm.pid, 2, "-F", 499, *arguments)
    found = check_filter(recording, mode)
    expect(bool(total(s for s in recording.samples() if s.has("MixShares.heavy"))) == stays,
           "MixShares.heavy stays: %s" % stays)
    expect(not any(frame.number for frame in recording.frames), "a library frame is left")
    for sample in recording.samples():
        for frame, caller in zip(sample.frames, sample.frames[1:]):
            expect(frame.method != "[library]" or caller.method != "[library]", "not one run")
        if mode == "drop":
            expect(any(frame.is_java for frame in sample.frames), "no application frame")
    if rules == "none":
        expect(not found["rules"] and found["trie"] == "none", str(found))
    elif mode == "fold":
        expect(any(frame.method == "[library]" for frame in recording.frames), "nothing was folded")
    run.note("%s" % found["samples"])


@test("filter off", quick=True, each_jdk=False)
def filter_off(run):
    jvm = run.java("MixShares", 30)
    recording = run.record(jvm.pid, 1, "-F", 499, "--filter", "off")
    expect(recording.raw["filter"]["mode"] == "off" and not recording.raw["filter"]["rules"], "rules")
    expect(all(frame.number is None for frame in recording.frames), "a frame is marked")


@test("filter with bad rules ends before it records", quick=True, each_jdk=False, needs_bpf=False)
def filter_bad_rules(run):
    path = run.output(".trie")
    path.write_text("1 ok\n9999 a\n")
    scope = run.scope("--all", "-d", "10", "--trie", path)
    status = scope.wait(5)
    expect(status == 1 and len(scope.err) == 1 and "%s:2:1: " % path in scope.err[0],
           "status %d: %s" % (status, scope.err))
