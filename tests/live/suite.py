# SPDX-License-Identifier: Apache-2.0
"""The table of live tests, and which of them a run takes on which JDK."""

TESTS = []


class Test:
    def __init__(self, name, function, options):
        self.name = name
        self.function = function
        self.quick = options.pop("quick", None)
        self.jdks = options.pop("jdks", None)
        self.modes = options.pop("modes", ("full",)) + (("jdks",) if self.jdks else ())
        self.each_jdk = options.pop("each_jdk", True)
        self.lowest = options.pop("lowest", 11)
        self.needs_bpf = options.pop("needs_bpf", True)
        self.limit = options.pop("limit", 180)
        self.params = options.pop("params", {"": {}})
        assert not options, options


class Job:
    def __init__(self, test, label, jdk):
        self.jdk = jdk
        self.function = test.function
        self.arguments = test.params[label]
        self.limit = test.limit
        self.needs_bpf = test.needs_bpf
        self.title = " ".join(word for word in (test.name, label) if word)
        self.name = "%s, %s" % (self.title, jdk) if jdk else self.title
        self.skip = None


def test(name, **options):
    """
    Registers a test function f(run, **arguments).

    params     {label: arguments}: one job for each
    quick      in check too: None no; True all params; a list of labels: these; ...
    each_jdk   False: on the lowest JDK only. A quick test runs on the lowest only, unless
               quick_all is said by a tuple ("all", labels)
    jdks       a list of labels: these on all JDKs that can be had (make check-jdks); with
               modes=("full", "jdks") instead all of them
    lowest     the lowest major version of the JDK it can run on
    modes      ("full",) by default; ("soak",) or ("full", "soak")
    needs_bpf  False: also where BPF is not allowed
    limit      seconds
    """
    def add(function):
        TESTS.append(Test(name, function, dict(options)))
        return function
    return add


def quick_labels(entry):
    """(labels, on all JDKs)"""
    every = False
    quick = entry.quick
    if isinstance(quick, tuple):
        every, quick = True, quick[1]
    if quick is None:
        return [], every
    return (list(entry.params) if quick is True else list(quick)), every


def jobs(tests, jdks, mode, names=()):
    """The jobs of a mode, or with names those whose name begins with one of them."""
    made = []
    for entry in tests:
        able = [jdk for jdk in jdks if jdk.major >= entry.lowest]
        labels, every = list(entry.params), entry.each_jdk
        if mode == "quick":
            labels, every = quick_labels(entry)
        elif mode not in entry.modes and (not names or mode in ("vm", "jdks")):
            continue
        elif names and set(entry.modes) <= {"vm", "jdks"} and mode not in entry.modes:
            continue
        if mode == "jdks" and entry.jdks:
            labels = entry.jdks
        for label in labels:
            for jdk in (able if every else able[:1]):
                made.append(Job(entry, label, jdk))
    if names:
        made = [job for job in made if any(job.name.startswith(name) for name in names)]
    return made
