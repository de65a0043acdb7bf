"""What a method declares of each of its hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass

from driftlab.core.limits import Between, Limit

FRACTION = Between(0, 1, above=True)
POSITIVE = Between(0, above=True)
NOT_NEGATIVE = Between(0)


@dataclass(frozen=True)
class HyperParameter:
    """One hyper-parameter of a method.

    Attributes:
        default: Its value where none is given.
        meaning: What it does, in a line.
        limit: What a value has to be.
    """

    default: float
    meaning: str
    limit: Limit = NOT_NEGATIVE
