"""What an experiment declares so that a sweep can run it, keep its results and resume it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

from numpy.typing import NDArray

from driftlab.core.errors import ParameterError
from driftlab.runs.canonical import canonical_json

Config = Mapping[str, Any]
"""A JSON object: the whole description of a run, or of one stage of it."""

State = dict[str, NDArray[Any]]
"""What a stage hands to the next one: named arrays of numbers."""

Row = dict[str, Any]
"""Columns of the evaluation table, as far as the one who writes the row knows them."""


@dataclass(frozen=True)
class StageResult:
    """What a stage yields.

    Attributes:
        rows: Measurements, JSON values only (no NaN): the columns that the stage itself knows.
        state: What the next stage continues from; may be empty where the next stage begins anew.
    """

    rows: list[Row]
    state: State


class Experiment(Protocol):
    """A family of runs; in practice a frozen, picklable dataclass of an importable module.

    A run is a function of its configuration and a chain of stages. A stage is a pure function of its own
    configuration, the data and the previous stage's state. A stage's configuration holds all that
    influences the stage and nothing else, so that runs that begin alike share their first stages. Only
    name, version, data and stage configuration identify a result: the experiment's own fields must not
    influence it.
    """

    @property
    def name(self) -> str:
        """Names the experiment's folder in the store: letters, digits, `.`, `_`, `-`."""
        ...

    @property
    def version(self) -> int:
        """Raised whenever the same configuration would give other results; older ones are then left alone."""
        ...

    def chain(self, config: Config) -> Sequence[Config]:
        """The configurations of a run's stages, first to last."""
        ...

    def describe(self, config: Config) -> Row:
        """The columns of every row of a run that only the run knows (method, seed, whole order …).

        They are laid over each stage's rows, and win where both have a column.
        """
        ...

    def batch_key(self, stage: Config) -> str:
        """Stages with equal batch keys may be executed in one call."""
        ...

    def execute(
        self, data: Any, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        """Executes stages side by side; the result of one must not depend on which others are with it.

        Args:
            data: What the sweep was given; not to be changed.
            stages: Stage configurations of one batch key.
            states: For each the previous stage's state, `None` for a run's first stage.
        """
        ...


@dataclass(frozen=True, eq=False)
class StageId:
    """What a stage is: the experiment at one version, the data, and the stage's configuration."""

    experiment: str
    version: int
    digest: str
    config: Config

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", self.experiment):
            raise ParameterError(
                f"An experiment's name names a folder and consists of letters, digits, '.', '_' and '-'; "
                f"{self.experiment!r} does not."
            )

    @cached_property
    def key(self) -> str:
        """SHA-256, hexadecimal, over the canonical JSON of all four."""
        return sha256(
            canonical_json(self.content, f"the configuration of a stage of {self.experiment}")
        ).hexdigest()

    @property
    def content(self) -> dict[str, Any]:
        """The four as a JSON object."""
        return {
            "experiment": self.experiment,
            "version": self.version,
            "digest": self.digest,
            "config": self.config,
        }
