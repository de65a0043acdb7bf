"""A tiny experiment: a stage draws the last digit of its order into a recurrence, and marks that it ran."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from driftlab.runs.experiment import Config, Row, StageResult, State

DATA = np.linspace(0.0, 1.0, 50)


def orders(digits: int, seeds: int = 1) -> list[dict[str, Any]]:
    """All orders of so many digits: 5 of them make 120 runs of 325 distinct stages."""
    return [{"seed": seed, "order": list(o)} for seed in range(seeds) for o in permutations(range(digits))]


def ran(marks: Path) -> Counter[str]:
    """How often each stage was executed."""
    return Counter(path.name.split(".")[0] for path in marks.iterdir() if path.suffix != ".part")


def contents(marks: Path) -> list[tuple[int, int]]:
    """For each executed stage the process and the size of its batch."""
    found = [path.read_text().split() for path in marks.iterdir() if path.suffix != ".part"]
    return [(int(process), int(batch)) for process, batch in found]


@dataclass(frozen=True)
class Toy:
    """Fields other than name, version and numerics, which are in no key, change how it runs or break it.

    With a `method` in its configuration, a run has the same first stages as those of other methods, up to
    `shared_depth`. With numerics, measurements depend on how many
    stages are executed together.
    """

    marks: str
    version: int = 1
    name: str = "toy"
    seconds: float = 0.0
    raises: tuple[str, ...] = ()
    raises_together: str = ""
    kills_once: str = ""
    kills_always: tuple[str, ...] = ()
    not_a_number: str = ""
    shift: float = 0.0
    short: bool = False
    numerics: str = ""
    shared_depth: int = 0

    def chain(self, config: Config) -> list[Config]:
        order = config["order"]
        stages = [{"seed": config["seed"], "order": order[: k + 1]} for k in range(len(order))]
        if "method" in config:
            stages[self.shared_depth :] = [
                {**stage, "method": config["method"]} for stage in stages[self.shared_depth :]
            ]
        return stages

    def shared(self, stage: Config) -> bool:
        return len(stage["order"]) <= self.shared_depth

    def describe(self, config: Config) -> Row:
        order = "-".join(map(str, config["order"]))
        method = config.get("method", "T")
        return {"paper": "toy", "variant": "toy", "method": method, "seed": config["seed"], "order": order}

    def batch_key(self, stage: Config) -> str:
        return str(len(stage["order"]))

    def execute(
        self, data: Any, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        if len({self.batch_key(stage) for stage in stages}) != 1:
            raise AssertionError("stages of different batch keys")
        names = [
            f"{stage['seed']}-" + "-".join(map(str, stage["order"])) + stage.get("method", "")
            for stage in stages
        ]
        time.sleep(self.seconds)
        for name in names:
            self._mark(name, len(stages))
        if self.raises_together in names and len(stages) > 1:
            raise MemoryError("too many at once")
        for name in names:
            if name in self.raises:
                raise ValueError(f"stage {name} does not work")
            flag = Path(self.marks).parent / "killed-once"
            if name in self.kills_always or (name == self.kills_once and not flag.exists()):
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        results = [
            self._execute_stage(data, name, stage["order"], stage["seed"], state, len(stages))
            for name, stage, state in zip(names, stages, states, strict=True)
        ]
        return results[:-1] if self.short else results

    def _execute_stage(
        self, data: Any, name: str, order: list[int], seed: int, state: State | None, together: int
    ) -> StageResult:
        if (state is None) != (len(order) == 1):
            raise AssertionError("only the first stage starts from nothing")
        if state is not None and state["order"].tolist() != order[:-1]:
            raise AssertionError("the state of another stage")
        x = data * seed if state is None else state["x"]
        x = np.sin(1.7 * x + data * (order[-1] + 1))
        if self.numerics:
            x = x + together * 1e-9
        value = float("nan") if name == self.not_a_number else float(x.mean()) + self.shift
        rows = [
            {
                "trained_on": len(order),
                "tested_on": f"class:{digit}",
                "metric": "test_accuracy",
                "value": value / (digit + 1),
            }
            for digit in order
        ]
        return StageResult(rows, {"x": x, "order": np.array(order)})

    def _mark(self, name: str, batch: int) -> None:
        path = Path(self.marks) / f"{name}.{uuid.uuid4().hex}"
        part = path.with_suffix(path.suffix + ".part")
        part.write_text(f"{os.getpid()} {batch}")
        part.rename(path)
