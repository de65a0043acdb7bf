"""Worker processes end when the process that drives them ends, however it ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection

_SECONDS_BETWEEN_LOOKS = 1.0


def follow_driver(driver: int, lifeline: Connection | None = None) -> None:
    """Make this worker process end with its driver, and leave Ctrl-C to the driver.

    Args:
        driver: Process id of the driver, which is this process's parent.
        lifeline: The reading end of a pipe; closing the other end ends this process, too.
    """
    # Ctrl-C reaches the whole process group; the driver alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(driver, lifeline), daemon=True).start()


def _end_with(driver: int, lifeline: Connection | None) -> None:
    # The parent's id is looked at as well, because a process that somebody forked from the driver would hold
    # the lifeline's other end open.
    with suppress(OSError, EOFError):
        while os.getppid() == driver and not _closed(lifeline):
            pass
    os._exit(1)


def _closed(lifeline: Connection | None) -> bool:
    """Wait until the lifeline is closed, or for a second."""
    if lifeline is None:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        return False
    return lifeline.poll(_SECONDS_BETWEEN_LOOKS)
