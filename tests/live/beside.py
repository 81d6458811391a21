# SPDX-License-Identifier: Apache-2.0
"""One program, recorded by the JVM's own recorder and by ours at the same time."""
import collections
import os
import re
import signal
import subprocess
import time

from harness import SCOPE, expect
from recording import Recording

# Of an event of the profile settings: nothing is left out because it is short.
EVERY = """<event name="jdk.%s"><setting name="enabled">true</setting>
<setting name="stackTrace">true</setting><setting name="threshold">0 ns</setting></event>"""

Pair = collections.namedtuple("Pair", "theirs began ended truth")


def settings(run, events):
    """A file of the profile settings with all of these events."""
    path = run.jdk.home / "lib" / "jfr" / "profile.jfc"
    if run.jdk.root and path.is_symlink():
        path = run.jdk.root / os.readlink(path).lstrip("/")
    profile = path.read_text(encoding="utf-8")
    for name in events:
        profile = re.sub(r'<event name="jdk\.%s">.*?</event>' % name, "", profile, flags=re.DOTALL)
    every = "\n".join(EVERY % name for name in events)
    path = run.for_java("all-of-it-%d.jfc" % run.jdk.major)
    path.write_text(profile.replace("</configuration>", every + "</configuration>"),
                    encoding="utf-8")
    return path


def convert(run, path):
    """A file of the JVM's recorder, by our reader."""
    json = run.output()
    done = subprocess.run([SCOPE, "convert", path, "-o", json], capture_output=True, text=True,
                          timeout=120, check=False)
    expect(done.returncode == 0, "convert: %s" % done.stderr)
    return Recording(json)


def record(run, program, flags, events, arguments):
    """
    Records a program that waits for go with both, from before its work until after it.

    events: names without jdk. that are recorded whatever they take, the others as the profile
    settings say; arguments: of jvmscope. Returns a Pair: the JVM's file, and the program's time in
    ns since the epoch.
    """
    jfr = run.for_java("beside.jfr")
    jfr.unlink(missing_ok=True)
    start = "-XX:StartFlightRecording=settings=%s,filename=%s,dumponexit=true" % (
        run.jdk.inside(settings(run, events)), run.jdk.inside(jfr))
    jvm = run.java(*program, wait=True, hold=60, flags=[start, *flags])
    scope = run.scope("-p", jvm.host_pid, "--max-overhead", "none", "--no-progress", *arguments)
    run.wait_recording(scope)
    began = time.time_ns()
    jvm.go()
    truth = jvm.truth()
    ended = time.time_ns()
    time.sleep(0.5)
    scope.signal(signal.SIGINT)
    got = scope.wait(60)
    expect(got == 0, "jvmscope ended with %s: %s" % (got, " | ".join(scope.err[-5:])))
    jvm.signal(signal.SIGTERM)
    jvm.wait(60)
    return Pair(jfr, began, ended, truth)
