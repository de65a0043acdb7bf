"""The machine's rate of matrix products, and the number of operations that an epoch needs."""

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
"""Duration of a measurement, in seconds."""
WIDTH, DEPTH = 64, 2
"""Width and depth of the paper's GCN, which the benchmark trains."""


def product_operations(graphs: int) -> int:
    """Number of multiplications and additions in the matrix products of one epoch of BARE on `graphs` graphs.

    Counted per branch of a layer are the forward pass, the gradient of the weights and, except for the first
    layer, the gradient of the input; likewise the classifier. Neighbour sums, batch norms and the optimiser
    are not counted.
    """
    rows, features = graphs * workload.JOINTS, workload.FRAMES * 3
    layers = 2 * rows * features * WIDTH * 2 + (DEPTH - 1) * 2 * rows * WIDTH * WIDTH * 3
    classifier = 3 * graphs * (2 * WIDTH * WIDTH + WIDTH * workload.CLASSES)
    return 2 * (layers + classifier)


class ProductRate:
    """Workers that multiply large matrices at the same time, with one thread each; a context manager.

    Args:
        jobs: Number of workers.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), torch.set_num_threads, (1,))

    def __enter__(self) -> ProductRate:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    def measure(self) -> float:
        """Measure the operations per second of all workers together."""
        return sum(self._pool.map(_operations_per_second, [SECONDS] * self._jobs))


def _operations_per_second(seconds: float) -> float:
    x, weight = torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)
    product(x, weight)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        product(x, weight)
        times.append(time.perf_counter() - start)
    return 2 * SIZE**3 / median(times)
