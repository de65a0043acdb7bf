"""Random evaluation tables that look like the experiment's, to draw and to judge."""

from __future__ import annotations

from itertools import islice, permutations

import numpy as np
import pandas as pd
from driftlab.core.evaluation_table import evaluation_table
from driftlab.core.provenance import Source

# How well a method keeps a task for each task learnt since, and how well it learns a new one.
KEEPS = {
    "BARE": (0.03, 0.96),
    "EWC": (0.10, 0.93),
    "MAS": (0.18, 0.90),
    "TWP": (0.25, 0.92),
    "LwF": (0.55, 0.85),
    "GEM": (0.40, 0.90),
    "REPLAY": (0.82, 0.93),
    "JOINT": (0.99, 0.93),
}
METHODS = [name for name in KEEPS if name != "JOINT"]
SYNTHETIC = Source("synthetic", "nucla", "400 sequences, seed 0", "ab" * 32)
OFFICIAL = Source("official", "nucla", "1,484 sequences, 20 joints", "cd" * 32)
SUBSET = Source("subset", "nucla", "1,389 of 1,484 sequences, without repeated ones", "ef" * 32)


def task_orders(count: int = 120) -> list[str]:
    pairs = ["0-1", "2-3", "4-5", "6-7", "8-9"]
    return ["-".join(order) for order in islice(permutations(pairs), count)]


def class_orders(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng([seed, 5])
    return ["-".join(map(str, rng.permutation(10))) for _ in range(count)]


def plausible_table(
    orders: list[str],
    *,
    methods: list[str] | None = None,
    seeds: int = 1,
    variant: str = "nucla/gcn",
    lift: float = 0.0,
) -> pd.DataFrame:
    """Test accuracies of 30 samples a class for each run, as binomial draws around a decaying curve."""
    rows = []
    difficulty = np.linspace(-0.05, 0.05, 10)
    for method in methods or METHODS:
        keeps, learns = KEEPS[method]
        for seed in range(seeds):
            rng = np.random.default_rng([seed, sum(method.encode()), len(variant)])
            for order in orders:
                classes = np.array(order.split("-"), dtype=int)
                for k in range(1, 6):
                    seen = np.arange(2 * k)
                    age = k - 1 - seen // 2
                    chance = learns * keeps**age * (1 - 0.02 * k) + difficulty[classes[seen]] + lift
                    value = rng.binomial(30, np.clip(chance, 0, 1)) / 30
                    rows += [
                        ("cgl", variant, method, seed, order, k, f"class:{label}", "test_accuracy", one)
                        for label, one in zip(classes[seen], value, strict=True)
                    ]
    columns = ["paper", "variant", "method", "seed", "order", "trained_on", "tested_on", "metric", "value"]
    return evaluation_table(pd.DataFrame(rows, columns=columns))
