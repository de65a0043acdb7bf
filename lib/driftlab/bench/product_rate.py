"""How fast this machine multiplies matrices, and how much of that an epoch needs."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from types import TracebackType

import torch

from driftlab.bench import workload
from driftlab.models.graphs.kernels import product

SIZE = 1024
"""Rows and columns of the large matrices."""
SECONDS = 1.0
"""How long each worker multiplies."""
WIDTH, DEPTH = 64, 2
"""Of the paper's GCN, which the benchmark trains."""


def product_operations(graphs: int) -> int:
    """Multiplications and additions of the matrix products that one epoch of BARE on so many graphs needs.

    Per branch of a layer: forward, the weights' gradient and, but for the first layer, the gradient that is
    handed down. The classifier counts as well; neighbour sums, batch norms and the optimiser do not.
    """
    rows, features = graphs * workload.JOINTS, workload.FRAMES * 3
    layers = 2 * rows * features * WIDTH * 2 + (DEPTH - 1) * 2 * rows * WIDTH * WIDTH * 3
    classifier = 3 * graphs * (2 * WIDTH * WIDTH + WIDTH * workload.CLASSES)
    return 2 * (layers + classifier)


class ProductRate:
    """Workers that multiply large matrices at the same time, with one thread each; they end with the block.

    Args:
        jobs: Workers.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), torch.set_num_threads, (1,))

    def __enter__(self) -> ProductRate:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    def measure(self) -> float:
        """Operations a second, all workers together."""
        return sum(self._pool.map(_operations_per_second, [SECONDS] * self._jobs))


def _operations_per_second(seconds: float) -> float:
    x, weight = torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)
    product(x, weight)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        product(x, weight)
        times.append(time.perf_counter() - began)
    return 2 * SIZE**3 / median(times)
