"""Drawing the independent parts of a world side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, TypeVar

import joblib
from joblib.externals.loky import ProcessPoolExecutor

from driftlab.core.driver import follow_driver
from driftlab.core.errors import DataError

Labels = TypeVar("Labels")
ENOUGH_IMAGES = 400
"""Number of images from which on worker processes are started."""


def draw_parts(draw: Callable[..., Labels], parts: Sequence[tuple[Any, ...]], images: int) -> list[Labels]:
    """Call `draw(*part)` for every part, in one worker process per core if there are many images to draw.

    The processes end with the call, and with this process if it is killed.

    Args:
        draw: A function of a module that writes a part's files, each part from a seed of its own, so that the
            order of the calls does not matter.
        parts: The arguments of each call.
        images: Number of images in all parts together.

    Returns:
        What the calls returned, in the order of the parts.

    Raises:
        DataError: A worker process was killed.
    """
    processes = min(joblib.cpu_count(), len(parts)) if images >= ENOUGH_IMAGES else 1
    if processes < 2:
        return [draw(*part) for part in parts]
    # joblib's pool instead of the standard library's: it starts from scripts without a guard as well.
    pool = ProcessPoolExecutor(
        processes,
        initializer=follow_driver,
        initargs=(os.getpid(),),
        env={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    )
    try:
        # Not `pool.map`: interrupted, it cancels calls, and then this process waits for its workers for ever.
        calls = [pool.submit(draw, *part) for part in parts]
        return [call.result() for call in calls]
    except BrokenExecutor as error:
        raise DataError(
            "A process that drew a part of the synthetic world was killed, as happens when memory is short.",
            hint="Free memory and try again, or set LOKY_MAX_CPU_COUNT=1 to draw in a single process.",
        ) from error
    finally:
        pool.shutdown(kill_workers=True)
