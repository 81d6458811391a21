# SPDX-License-Identifier: Apache-2.0
"""CPU time of a process and its threads, read beside the recorder and without it."""
import bisect
import os
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


def process_cpu_ns(pid):
    """User and system time of all threads, ended ones included; ticks of 10 ms."""
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1_000_000_000 // TICK


def thread_cpu_ns(pid, tid):
    with open("/proc/%d/task/%d/schedstat" % (pid, tid), encoding="utf-8") as file:
        return int(file.read().split()[0])


def threads(pid):
    """{tid: comm} of a process."""
    found = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/comm" % (pid, tid), encoding="utf-8",
                      errors="replace") as file:
                found[int(tid)] = file.read().rstrip("\n")
        except OSError:
            pass
    return found


class Watch:
    """Notes the CPU time of a process and of some of its threads again and again, by wall time."""

    def __init__(self, pid, names=(), interval=0.02):
        self.pid = pid
        self.names = set(names)
        self.interval = interval
        self.points = {}
        self.running = True
        self.thread = threading.Thread(target=self._loop, daemon=True)
        self.thread.start()

    def _note(self, key, value):
        self.points.setdefault(key, []).append((time.time_ns(), value))

    def _loop(self):
        tids = {}
        turn = 0
        while self.running:
            try:
                if turn % 25 == 0 and self.names:
                    tids = {tid: name for tid, name in threads(self.pid).items()
                            if name in self.names}
                self._note(0, process_cpu_ns(self.pid))
                for tid in tids:
                    self._note(tid, thread_cpu_ns(self.pid, tid))
            except (OSError, IndexError, ValueError):
                pass
            turn += 1
            time.sleep(self.interval)

    def stop(self):
        self.running = False
        self.thread.join()

    def between(self, start_ns, end_ns, key=0):
        """CPU time from one wall time to another; key 0 is the process, else a tid."""
        points = self.points.get(key, [])
        if len(points) < 2:
            return 0
        return self._at(points, end_ns) - self._at(points, start_ns)

    @staticmethod
    def _at(points, when):
        at = bisect.bisect_left(points, (when, 0))
        if at == 0:
            return points[0][1]
        if at == len(points):
            return points[-1][1]
        (before, low), (after, high) = points[at - 1], points[at]
        return low + (high - low) * (when - before) // max(after - before, 1)
