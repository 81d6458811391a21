# SPDX-License-Identifier: Apache-2.0
"""JVMs that are not as usual: in a container, without symbols, with files replaced, or no JVM."""
import os
import shutil
import subprocess
import time
from pathlib import Path

import jdks
from harness import Jvm, Skip, check_complete, check_shares, expect, named, wait_until
from recording import Recording, total
from suite import test


def shares_recorded(run, jvm, seconds=4, hz=499):
    """Records a MixShares that waits, judges shares and completeness, and returns the recording."""
    recording, truth = run.record_all(jvm, "-F", hz)
    samples = list(recording.samples(name="mix"))
    run.note(check_shares(samples, named("MixShares", truth["cpu_ns"])))
    run.note(check_complete(recording, samples))
    return recording


def only_child(pid):
    """The one child of a process, as soon as there is one."""
    def read():
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]
    return wait_until(read, 10, "no child of %d" % pid)[0]


def start_in_container(run, libjvm="-", seconds=5, pid_inside=None):
    script = Path(__file__).parent / "container.sh"
    root = run.folder / "root"
    root.mkdir()
    environment = dict(os.environ, **({"JVM_PID": str(pid_inside)} if pid_inside else {}))
    jvm = run.track(Jvm([script, root, run.jdk.home, jdks.LIVE / "classes" / "11", libjvm,
                         "-Xmx256m", "-Dwait=true", "-Dhold=20", "-cp", "/app", "MixShares",
                         seconds], env=environment))
    jvm.ready()
    jvm.host_pid = only_child(jvm.pid)
    if pid_inside:
        jvm.host_pid = only_child(jvm.host_pid)
    return jvm


@test("in a container", quick=True)
def container(run):
    libjvm = run.folder / "libjvm.so"
    shutil.copy(run.jdk.libjvm(), libjvm)
    jvm = start_in_container(run, libjvm)
    with open("/proc/%d/maps" % jvm.host_pid, encoding="utf-8") as file:
        expect("/jdk/lib/server/libjvm.so" in file.read(), "the test's container has no path /jdk")
    recording = shares_recorded(run, jvm)
    row = recording.jvms[0]
    expect(row["pid"] == jvm.host_pid and row["container_pid"] == 1,
           "pid %s, container pid %s" % (row["pid"], row["container_pid"]))
    names = [frame for frame in recording.frames if frame.module == "libjvm.so" and frame.method]
    expect(names, "no function of libjvm has a name")


@test("a pid inside a container is recognised", quick=True, each_jdk=False)
def container_pid(run):
    inside = free_pid()
    jvm = start_in_container(run, pid_inside=inside)
    scope = run.scope("-p", inside, "-d", 1, "-f", run.output(), "-q")
    status = scope.wait(15)
    expect(status == 4, "status %s: %s" % (status, scope.err))
    expect(len(scope.err) == 1, "%d lines: %s" % (len(scope.err), scope.err))
    expect("-p %d" % jvm.host_pid in scope.err[0], "does not offer %d: %s" % (
        jvm.host_pid, scope.err[0]))
    run.note(scope.err[0])


def running_edited(run, name, edit):
    jdk = jdks.edited_home(run.jdk, name, edit)
    return run.java("MixShares", 4, jdk=jdk, wait=True, hold=20)


def swap(path):
    copy = path.with_suffix(".new")
    shutil.copy(path, copy)
    path.unlink()
    copy.rename(path)


@test("libjvm.so is replaced or deleted", params={
    "replaced": {"change": swap}, "deleted": {"change": lambda path: path.unlink()}})
def replaced(run, change):
    jdk = jdks.edited_home(run.jdk, "replaced-%s" % change.__name__.strip("<>"), lambda path: None)
    libjvm = jdk.libjvm()
    keep = run.folder / "libjvm.keep"
    shutil.copy(libjvm, keep)
    try:
        jvm = run.java("MixShares", 4, jdk=jdk, wait=True, hold=20)
        change(libjvm)
        with open("/proc/%d/maps" % jvm.pid, encoding="utf-8") as file:
            expect("libjvm.so (deleted)" in file.read(), "maps do not say (deleted)")
        shares_recorded(run, jvm)
    finally:
        shutil.copy(keep, libjvm)


def strip(path):
    subprocess.run(["strip", path], check=True)
    subprocess.run(["objcopy", "--remove-section", ".gnu_debuglink", path], check=True)


def remove_usdt(path):
    subprocess.run(["objcopy", "--remove-section", ".note.stapsdt", path], check=True)


@test("libjvm.so without symbols or USDT notes", params={
    "stripped": {"name": "stripped", "edit": strip}, "no USDT": {"name": "nousdt", "edit": remove_usdt}})
def stripped(run, name, edit):
    jvm = running_edited(run, name, edit)
    needs = run.doctor(jvm.pid)
    poor = "symbols" if edit is strip else "USDT probes"
    for need in ("symbols", "USDT probes", "vmStructs"):
        expected = "degraded" if need == poor else "ok"
        expect(needs[need][0] == expected, "doctor: %s is %s" % (need, needs[need]))
    shares_recorded(run, jvm)


def rename_field(old, new):
    """Gives a string of libjvm.so, and so a field of its vmStructs, another name."""
    def edit(path):
        data = path.read_bytes()
        count = data.count(b"\0" + old + b"\0")
        if count == 0:
            raise Skip("libjvm.so has no string %s of its own" % old.decode())
        path.write_bytes(data.replace(b"\0" + old + b"\0", b"\0" + new + b"\0"))
    return edit


@test("a vmStructs field is missing", quick=True)
def missing_field(run):
    jvm = running_edited(run, "nofield", rename_field(b"_frame_size", b"_frame_sizf"))
    jvm.go()
    path = run.output()
    scope = run.scope("-p", jvm.pid, "-d", 2, "-F", 499, "-f", path, "--no-progress")
    status = scope.wait(30)
    warned = [line for line in scope.err if "_frame_size" in line]
    expect(len(warned) == 1, "the field is named in %d lines: %s" % (len(warned), scope.err[:8]))
    log = [line for line in scope.err if line.startswith("jvmscope: ")]
    expect(len(log) <= 10, "%d lines of log" % len(log))
    expect(status == 0, "status %s: %s" % (status, scope.err[-3:]))
    recording = Recording(path)
    expect(recording.identity() is None, str(recording.identity()))
    samples = list(recording.samples(name="mix"))
    expect(total(samples) > 100, "only %d samples of thread mix" % total(samples))
    native = [f for f in recording.frames if f.kind == "cpp" and f.method]
    expect(native, "no native frame has a name")
    run.note(warned[0])


# ---- not a JVM

def c_program(run, source="int main(void) { for (;;) pause(); }"):
    program = run.folder / "program"
    subprocess.run(["gcc", "-xc", "-", "-o", program, "-include", "unistd.h", "-include",
                    "sys/mman.h", "-include", "fcntl.h"], input=source, text=True, check=True)
    return run.track(Jvm([program], stdin=subprocess.DEVNULL)).pid


def mapped_file(run, content):
    """A C program that has a file called libjvm.so mapped."""
    fake = run.folder / "libjvm.so"
    fake.write_bytes(content)
    return c_program(run, """
        int main(void) {
            int fd = open("%s", O_RDONLY);
            mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
            for (;;) pause();
        }""" % fake)


def shell_script(run):
    script = run.folder / "java"
    script.write_text("#!/bin/sh\nwhile :; do sleep 1; done\n")
    script.chmod(0o755)
    return run.track(Jvm([script], stdin=subprocess.DEVNULL)).pid


def free_pid():
    with open("/proc/sys/kernel/pid_max", encoding="utf-8") as file:
        top = int(file.read())
    return next(pid for pid in range(top - 1, 1, -1) if not os.path.exists("/proc/%d" % pid))


def hostile_elf():
    """An ELF header whose section table points outside the file."""
    header = bytearray(b"\x7fELF\x02\x01\x01".ljust(64, b"\0"))
    header[16:20] = b"\x03\x00\x3e\x00"
    header[32:48] = b"\xff" * 16
    header[54:64] = b"\xff" * 10
    return bytes(header)


NOT_JVMS = {
    "a C program": c_program,
    "a text called libjvm.so": lambda run: mapped_file(run, b"not an ELF file\n"),
    "an empty libjvm.so": lambda run: mapped_file(run, b""),
    "a broken libjvm.so": lambda run: mapped_file(run, hostile_elf()),
    "a script called java": shell_script,
    "no such pid": lambda run: free_pid(),
    "a kernel thread": lambda run: 2,
    "the caller": lambda run: os.getpid(),
}


@test("not a JVM", quick=True, each_jdk=False,
      params={label: {"make": make} for label, make in NOT_JVMS.items()})
def not_a_jvm(run, make):
    pid = make(run)
    time.sleep(0.2)
    path = run.output()
    scope = run.scope("-p", pid, "-d", 600, "-f", path)
    status = scope.wait(30)
    expect(status == 4, "status %s: %s" % (status, scope.err))
    expect(len(scope.err) == 1, "%d lines: %s" % (len(scope.err), scope.err))
    expect(scope.err[0].startswith("jvmscope: pid %d: " % pid), scope.err[0])
    expect(not path.exists(), "wrote a file")
    run.note(scope.err[0])


# Each group of places in libjvm: one of its symbols, what is lost without, what is still recorded.
GROUPS = {
    "gc": ("_ZNK8GCTracer22report_gc_heap_summaryEN6GCWhen4TypeERK13GCHeapSummary",
           "sizes of the heap"),
    "safepoint": ("_ZN20SafepointSynchronize5blockEP10JavaThread",
                  "threads that are slow to stop"),
    "lock": ("_ZN6Parker4parkEbl", "LockSupport.park()"),
    "thread": ("_ZN6Thread5startEPS_", "who starts a thread"),
    "jit": ("_ZN14Deoptimization19uncommon_trap_innerEP10JavaThreadi", "deoptimizations"),
    "exception": ("JVM_FillInStackTrace", "exceptions"),
    "alloc": ("_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread",
              "objects outside of TLABs"),
}


def drop_symbols(names):
    """Gives these symbols of libjvm.so, in the table that a running JVM does not use, other names."""
    def edit(path):
        arguments = [word for name in names
                     for word in ("--redefine-sym", "%s=gone_%s" % (name, name))]
        subprocess.run(["objcopy", *arguments, path], check=True)
    return edit


def without(run, name, symbols):
    """(lines of doctor, lines of a recording) of a JVM without these symbols."""
    jvm = running_edited(run, name, drop_symbols(symbols))
    needs = run.doctor(jvm.pid)
    jvm.go()
    scope = run.scope("-p", jvm.pid, "-d", 2, "-e", ",".join(GROUPS), "-f", run.output(),
                      "--no-progress")
    status = scope.wait(60)
    expect(status == 0, "status %s: %s" % (status, scope.err[-3:]))
    return needs, scope.err


@test("a symbol of each group is missing")
def missing_symbols(run):
    """Each group says what it lost, in one line each; the others are whole."""
    exported = {"exception"}  # a running JVM needs it
    for group, (symbol, lost) in GROUPS.items():
        if group in exported:
            continue
        needs, lines = without(run, "no-%s" % group, [symbol])
        for other in GROUPS:
            state, text = needs["places of %s" % other]
            expect(state == ("degraded" if other == group else "ok"),
                   "without %s: %s is %s: %s" % (symbol, other, state, text))
        text = needs["places of %s" % group][1]
        expect("not known: %s (%s)" % (lost, symbol) in text, text)
        said = [line for line in lines if "its libjvm has no" in line]
        expect(len(said) == 1 and symbol in said[0], "%s: %s" % (group, said))
    run.note("%d groups" % (len(GROUPS) - len(exported)))
