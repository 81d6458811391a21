# SPDX-License-Identifier: Apache-2.0
"""The JDKs of this machine, and the test programs compiled for them."""
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD", ".build"))
if not BUILD.is_absolute():
    BUILD = ROOT / BUILD
LIVE = BUILD / "live"


class Jdk:
    """
    A Java home. `root` is the folder it must be chrooted into, for JDKs that were unpacked into a
    root of their own (scripts/jdks.sh); `home` is below it then, as the host sees it.
    """

    def __init__(self, home, version, root=None):
        self.home = Path(home)
        self.version = version
        self.root = root
        numbers = re.split(r"[._]", version)
        self.major = int(numbers[1] if numbers[0] == "1" else numbers[0])
        self.java = self.home / "bin" / "java"
        self.javac = self.home / "bin" / "javac"

    def __str__(self):
        return "jdk %d" % self.major

    def libjvm(self):
        return next(self.home.glob("**/server/libjvm.so"))

    def command(self):
        """The words that start its java."""
        if self.root:
            return ["chroot", self.root, "/" + str(self.java.relative_to(self.root))]
        return [self.java]

    def inside(self, path):
        """A path of the host as java sees it; what is in LIVE is shared with a root."""
        if self.root and path.is_relative_to(LIVE):
            return Path("/jvmscope") / path.relative_to(LIVE)
        return path

    def class_path(self):
        return ":".join(str(self.inside(folder)) for folder in class_folders(self.major))


def asked_version(command):
    """What "java -version" says; None when it says nothing of the kind."""
    try:
        done = subprocess.run([*command, "-version"], capture_output=True, text=True, timeout=60,
                              check=False)
        return re.search(r'version "([\d._]+)', done.stderr).group(1)
    except (OSError, AttributeError, subprocess.TimeoutExpired):
        return None


def version_of(home):
    """The version of a Java home by its release file, or by asking it; None when it is no JDK."""
    try:
        text = (home / "release").read_text()
        return re.search(r'JAVA_VERSION="([^"]+)"', text).group(1).split("-")[0].split("+")[0]
    except (OSError, AttributeError):
        pass
    return asked_version([home / "bin" / "java"])


def find():
    """One JDK with a compiler for each major version, lowest first."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += sorted(Path("/usr/lib/jvm").glob("*")) if Path("/usr/lib/jvm").is_dir() else []
    found = {}
    for home in homes:
        home = home.resolve()
        if not (home / "bin" / "javac").exists():
            continue
        version = version_of(home)
        if version:
            jdk = Jdk(home, version)
            found.setdefault(jdk.major, jdk)
    return [found[major] for major in sorted(found)]


def find_in_root(root):
    """The JREs that scripts/jdks.sh unpacked into a root, whose /jvmscope becomes our LIVE."""
    root = Path(root).resolve()
    shared = root / "jvmscope"
    shared.mkdir(exist_ok=True)
    for target, options in (("proc", ["-t", "proc", "proc"]), ("dev", ["--bind", "/dev"]),
                            ("jvmscope", ["--bind", LIVE])):
        if subprocess.run(["mountpoint", "-q", root / target], check=False).returncode:
            subprocess.run(["mount", *options, root / target], check=True)
    found = {}
    for home in sorted((root / "usr" / "lib" / "jvm").glob("java-*-openjdk-*")):
        home = home / "jre" if (home / "jre" / "bin" / "java").exists() else home
        if home.is_symlink() or not (home / "bin" / "java").exists():
            continue
        inner = "/" + str((home / "bin" / "java").relative_to(root))
        version = asked_version(["chroot", root, inner])
        if version:
            jdk = Jdk(home, version, root)
            found[jdk.major] = jdk
    return [found[major] for major in sorted(found)]


# Where each set of programs needs more than the language of 11.
SETS = [
    # folder of sources, --release, lowest JDK that has such a compiler
    ("jdk8", 8, 9),
    ("", 11, 11),
    ("jdk17", 17, 17),
    ("jdk21", 21, 21),
]


def is_older(target, sources):
    if not target.exists():
        return True
    made = target.stat().st_mtime
    return any(source.stat().st_mtime > made for source in sources)


def compile_set(jdks, folder, release, lowest, out):
    """Compiles one folder of tests/java into `out`, unless it is there already."""
    here = ROOT / "tests" / "java" / folder
    sources = sorted(here.glob("*.java"))
    done = out / ".done"
    # The newest JDKs drop old language levels; the lowest that can is the safest.
    able = [jdk for jdk in jdks if jdk.javac.exists() and not jdk.root
            and jdk.major >= max(lowest, release if release > 9 else 9)]
    if not sources or not able or not is_older(done, sources):
        return
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    path = str(LIVE / "classes" / "11")
    subprocess.run([able[0].javac, "-nowarn", "-Xlint:-options", "--release", str(release), "-g",
                    "-cp", path, "-d", out] + sources, check=True)
    done.touch()


def compile_natives(jdk, out):
    """The JNI libraries: without frame pointers, one with and one without unwind tables."""
    include = jdk.home / "include"
    if not (include / "jni.h").exists():
        return
    flags = ["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-shared", "-fPIC",
             "-I", include, "-I", include / "linux"]
    bare = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
    for name, extra in (("frames", ["-fasynchronous-unwind-tables"]), ("bare", bare),
                        ("agent", [])):
        source = ROOT / "tests" / "java" / "jni" / (
            "agent.c" if name == "agent" else "frames.c")
        library = out / ("lib%s.so" % name)
        if is_older(library, [source]):
            out.mkdir(parents=True, exist_ok=True)
            subprocess.run(["gcc", *flags, *extra, source, "-o", library], check=True)


def compile_all(jdks):
    """Compiles the programs of tests/java; returns nothing, class_path() names the folders."""
    order = sorted(SETS, key=lambda row: row[1] != 11)
    for folder, release, lowest in order:
        compile_set(jdks, folder, release, lowest, LIVE / "classes" / str(release))
    for jdk in jdks:
        compile_natives(jdk, LIVE / "natives")


def class_folders(major):
    """The folders of classes that a JDK can run, newest language first."""
    levels = [21, 17, 11, 8] if major >= 11 else [8]
    return [LIVE / "classes" / str(level) for level in levels if level <= major]


def edited_home(jdk, name, edit):
    """
    A copy of a JDK whose libjvm.so went through `edit(path)`; made once and kept.

    Only the libraries and the launcher are real files: the launcher and libjvm find the home by
    their own real path. All the rest is links.
    """
    home = LIVE / ("%s-%d" % (name, jdk.major))
    if (home / ".done").exists():
        return Jdk(home, jdk.version)
    shutil.rmtree(home, ignore_errors=True)
    for folder, _, files in os.walk(jdk.home, followlinks=True):
        here = home / os.path.relpath(folder, jdk.home)
        if here.name in ("jmods", "man", "demo", "include", "legal", "docs"):
            continue
        here.mkdir(parents=True, exist_ok=True)
        for file in files:
            source = Path(folder) / file
            if file == "java" or ".so" in file:
                shutil.copy2(source.resolve(), here / file)
            elif source.exists():
                (here / file).symlink_to(source.resolve())
    copy = Jdk(home, jdk.version)
    edit(copy.libjvm())
    (home / ".done").touch()
    return copy
