"""Errors and warnings of sweeps."""

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
    """Base of warnings that a user can act on; the text says what happened and what to do."""


class CorruptResultWarning(DriftlabWarning):
    """A file of the store is damaged; its content is computed again."""


class SweepWarning(DriftlabWarning):
    """A sweep continues after a problem: a lost worker, a failed batch, a measurement that differs."""


class StageError(DriftlabError):
    """An experiment failed to execute stages. It holds one text, so that every process can unpickle it.

    Another exception might not survive pickling, which an engine could not tell from a dead worker.
    """

    @classmethod
    def of(cls, error: Exception) -> StageError:
        """A `StageError` with the type, text, file and line of another error."""
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        return cls(f"{type(error).__name__}: {error}{place}")


@dataclass(frozen=True)
class Failure:
    """A run that could not be finished.

    Attributes:
        config: Configuration of the run.
        stage: Number of the stage that failed, from 1.
        stages: Number of stages of the run.
        problem: Text of the error.
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
        failures: The runs that could not be finished, as far as they are known.
    """

    def __init__(self, text: str, failures: Sequence[Failure] = ()) -> None:
        more = f"\n  … and {len(failures) - SHOWN} more" if len(failures) > SHOWN else ""
        super().__init__(text + "".join(f"\n  {failure}" for failure in failures[:SHOWN]) + more)
        self.failures = tuple(failures)
