"""The interface of experiments: what a sweep needs to run them, keep their results and resume them."""

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
"""The state that the next stage continues from: named arrays."""

Row = dict[str, Any]
"""A measurement: columns of the evaluation table. A stage writes what it knows, its run adds the rest."""


@dataclass(frozen=True)
class StageResult:
    """Measurements and state of an executed stage.

    Attributes:
        rows: Measurements, JSON values only (no NaN).
        state: What the next stage continues from; may be empty where the next stage begins anew.
    """

    rows: list[Row]
    state: State


class Experiment(Protocol):
    """A family of runs; in practice a frozen, picklable dataclass of an importable module.

    A run is a function of its configuration and a chain of stages. A stage's configuration holds everything
    that influences the stage and nothing else, so that runs which begin alike share their first stages. Name,
    version, numerics, data and stage configuration identify a result (`StageId`): the experiment's other
    fields must not influence it.
    """

    @property
    def name(self) -> str:
        """Names the experiment's folder in the store: letters, digits, `.`, `_`, `-`."""
        ...

    @property
    def version(self) -> int:
        """Raised when the same configuration would give other results; older results stay in the store."""
        ...

    @property
    def numerics(self) -> str:
        """Kind of device and strategy where they change the numbers, for example `cuda-batched`.

        Empty for the reference: one CPU process, where a stage that is executed again, alone or together with
        any others, gives the same result to the last bit.

        All other numerics promise less. Float32 sums on a GPU, or over a padded stack of replicas, depend in
        their last digits on what is computed beside them and in which order, and training can amplify that: a
        result is one of several equally valid ones. The store keeps the first that is computed and everything
        reuses it, so that a table is the same whenever it is read again. It is not promised that another
        `batch`, other jobs, or a sweep that was interrupted would have computed the same digits, nor that a
        state which had to be computed again belongs to the last digit to the measurements that were kept.

        Results of different numerics have different keys in the store and are told apart in the provenance.
        The value must be the same in every process: a device `auto` is decided where the experiment is
        created (`driftlab.core.devices.device_kind`), not in a worker.
        """
        ...

    def chain(self, config: Config) -> Sequence[Config]:
        """The configurations of a run's stages, first to last."""
        ...

    def shared(self, stage: Config) -> bool:
        """Whether runs of other sweeps are likely to continue from the stage, as from a common first task.

        Its state then outlives the sweep within a size limit (`driftlab.runs.states`); all other states are
        removed when everything that continues from them is finished.
        """
        ...

    def describe(self, config: Config) -> Row:
        """The columns of every row of a run that only the run knows (method, seed, whole order …).

        They replace columns of the same name in the stages' rows.
        """
        ...

    def batch_key(self, stage: Config) -> str:
        """Stages with equal batch keys may be executed in one call of `execute`."""
        ...

    def execute(
        self, data: Any, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        """Execute stages side by side; see `numerics` for how far one may influence another.

        Args:
            data: What `sweep` was given; not to be changed.
            stages: Stage configurations of one batch key.
            states: For each the previous stage's state, `None` for a run's first stage.

        Returns:
            One result per stage, in their order.
        """
        ...


@dataclass(frozen=True, eq=False)
class StageId:
    """The identity of a stage's result.

    Attributes:
        experiment: Name of the experiment.
        version: Its version.
        digest: Digest of the data.
        config: Configuration of the stage.
        numerics: See `Experiment.numerics`.

    Raises:
        ParameterError: The experiment's name cannot name a folder.
    """

    experiment: str
    version: int
    digest: str
    config: Config
    numerics: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", self.experiment):
            raise ParameterError(
                f"An experiment's name names a folder and consists of letters, digits, '.', '_' and '-'; "
                f"{self.experiment!r} does not."
            )

    @cached_property
    def key(self) -> str:
        """SHA-256, hexadecimal, over the canonical JSON of `content`."""
        return sha256(
            canonical_json(self.content, f"the configuration of a stage of {self.experiment}")
        ).hexdigest()

    @property
    def content(self) -> dict[str, Any]:
        """The identity as a JSON object. The reference has no `numerics`: its keys predate that field."""
        return {
            "experiment": self.experiment,
            "version": self.version,
            "digest": self.digest,
            "config": self.config,
        } | ({"numerics": self.numerics} if self.numerics else {})


def stage_id(experiment: Experiment, digest: str, stage: Config) -> StageId:
    """The identity of an experiment's stage on the data of a digest."""
    return StageId(experiment.name, experiment.version, digest, stage, experiment.numerics)


def made_by(experiment: Experiment) -> str:
    """What computed a result, for its provenance: "cgl version 3 on cpu"."""
    return f"{experiment.name} version {experiment.version} on {experiment.numerics or 'cpu'}"
