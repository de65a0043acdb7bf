"""What can go wrong while stages are computed, and how it is told."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftlab.core.errors import DriftlabError

SHOWN = 5


class DriftlabWarning(UserWarning):
    """Base of the warnings that are written for the person who reads them."""


class CorruptResultWarning(DriftlabWarning):
    """A file of the store is damaged; what it held is computed again."""


class SweepWarning(DriftlabWarning):
    """A sweep went on, but not as one would wish."""


class StageError(DriftlabError):
    """An experiment failed to execute stages; says so in one text, so that it can travel between processes.

    Any other exception might not survive pickling, and an engine could not tell that from a dead worker.
    """

    @classmethod
    def of(cls, error: Exception) -> StageError:
        """The error's kind, text and place."""
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        return cls(f"{type(error).__name__}: {error}{place}")


@dataclass(frozen=True)
class Failure:
    """A run that could not be finished.

    Attributes:
        config: The run.
        stage: Which of its stages failed, from 1.
        stages: How many it has.
        problem: The error's text.
    """

    config: dict[str, Any]
    stage: int
    stages: int
    problem: str

    def __str__(self) -> str:
        run = json.dumps(self.config, default=str)
        return f"{self.problem} (stage {self.stage} of {self.stages} of the run {run})"


class SweepError(DriftlabError):
    """Some runs of a sweep could not be finished; everything else was computed and kept.

    Args:
        text: What happened.
        failures: One for each run that is not complete, as far as that is known.
    """

    def __init__(self, text: str, failures: Sequence[Failure] = ()) -> None:
        more = f"\n  … and {len(failures) - SHOWN} more" if len(failures) > SHOWN else ""
        super().__init__(text + "".join(f"\n  {failure}" for failure in failures[:SHOWN]) + more)
        self.failures = tuple(failures)
