"""A process tree, and how to end all of it."""

from __future__ import annotations

import os
import time

import psutil

GRACE = 2.0
"""Seconds between asking processes to end and killing them."""

NO_REPORT = 74
"""Exit code of a worker that could not write its last event (EX_IOERR of sysexits.h)."""
OUT_OF_MEMORY = (
    "Most likely the machine ran out of memory. Run less at once (--jobs 1, a smaller `replicas` or "
    "batch), or free memory; finished runs are kept, so that the next start takes them over."
)


class ProcessTree:
    """Keeps track of a process's descendants, so that they are found even when what started them has died.

    A kernel lives in a session of its own, and when it crashes, its pool workers or Ray node lose their
    parent. Call `look` every second or so while the root lives: whatever was seen once is remembered.

    Args:
        pid: The root.
    """

    def __init__(self, pid: int) -> None:
        self._seen: set[psutil.Process] = set()
        self._sessions: set[int] = set()
        if psutil.pid_exists(pid):
            self._seen.add(psutil.Process(pid))

    def look(self) -> list[psutil.Process]:
        """The tree's living processes, with those that joined since the last look, except the calling one."""
        all_processes = list(psutil.process_iter(["ppid"]))
        sessions = {process.pid: _session(process.pid) for process in all_processes}
        self._sessions &= {session for session in sessions.values() if session is not None}
        # _alive compares creation times: a process that has got a dead one's number is not of the tree
        tree = {process.pid: process for process in self._seen if _alive(process)}
        size = -1
        while size < len(tree):
            size = len(tree)
            self._sessions |= {session for pid in tree if (session := sessions.get(pid)) is not None}
            tree |= {
                process.pid: process
                for process in all_processes
                if process.pid not in tree
                and (process.info["ppid"] in tree or sessions[process.pid] in self._sessions)
            }
        self._seen = set(tree.values())
        return [process for process in self._seen if process.pid != os.getpid() and _alive(process)]

    def kill(self) -> None:
        """End the tree's processes except the calling one: SIGTERM first, SIGKILL after `GRACE` seconds."""
        for insist in (False, True, True):
            living = self.look()
            for process in living:
                try:
                    process.kill() if insist else process.terminate()
                except psutil.NoSuchProcess:
                    continue
            deadline = time.monotonic() + GRACE
            while any(map(_alive, living)) and time.monotonic() < deadline:
                time.sleep(0.05)


def _alive(process: psutil.Process) -> bool:
    # A zombie has ended, whether or not its parent has collected it.
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _session(pid: int) -> int | None:
    """The session that a process belongs to, where the system has sessions; never the caller's own."""
    if not hasattr(os, "getsid"):
        return None
    try:
        session = os.getsid(pid)
    except OSError:
        return None
    return None if session == os.getsid(0) else session
