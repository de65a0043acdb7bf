"""What a value has to be beyond its type, in a condition and in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from driftlab.core.suggestions import did_you_mean

Names = Iterable[str] | Callable[[], Iterable[str]]
"""Names, or a function that lists them where listing them needs an import."""


class Limit:
    """A condition on a value of the right type.

    Attributes:
        says_type: Whether `words` also say the type.
    """

    says_type: ClassVar[bool] = False

    @property
    def words(self) -> str:
        """What the value has to be: "at least 1"."""
        raise NotImplementedError

    def holds(self, value: Any) -> bool:
        """Whether the value is possible."""
        raise NotImplementedError

    def problem(self, value: Any) -> str:
        """What is wrong with the value, as "has to be at least 1, not 0"; an empty text if nothing is."""
        return "" if self.holds(value) else f"has to be {self.words}, not {value!r}"


@dataclass(frozen=True)
class Between(Limit):
    """A finite number from `low` to `high`.

    Attributes:
        low: The least value.
        high: The largest value; None for no bound.
        above: Whether `low` itself is excluded.
    """

    low: float
    high: float | None = None
    above: bool = False

    @property
    def words(self) -> str:
        """For example "above 0 and at most 1"."""
        if self.above:
            return f"above {self.low}" + ("" if self.high is None else f" and at most {self.high}")
        return f"at least {self.low}" if self.high is None else f"from {self.low} to {self.high}"

    def holds(self, value: Any) -> bool:
        """Whether the number is finite and between the bounds."""
        enough = value > self.low if self.above else value >= self.low
        return math.isfinite(value) and enough and (self.high is None or value <= self.high)

    def problem(self, value: Any) -> str:
        """As for every limit; says "finite" where that is what is wrong."""
        if not math.isfinite(value):
            return f"has to be finite and {self.words}, not {value!r}"
        return super().problem(value)


@dataclass(frozen=True)
class OneOf(Limit):
    """One of some names or numbers.

    Attributes:
        choices: The possible values, or a function that lists them.
    """

    says_type = True

    choices: Names | Iterable[float]

    @property
    def words(self) -> str:
        """For example "local or ray"."""
        choices = [str(choice) for choice in _listed(self.choices)]
        return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)

    def holds(self, value: Any) -> bool:
        """Whether the value is one of the choices."""
        return value in _listed(self.choices)

    def problem(self, value: Any) -> str:
        """As for every limit, with the nearest name."""
        return super().problem(value) + (
            _hint([value], _listed(self.choices)) if not self.holds(value) else ""
        )


@dataclass(frozen=True)
class SomeOf(Limit):
    """A list of different names.

    Attributes:
        names: The possible names, or a function that lists them.
        with_one_of: Names of which the list needs at least one; empty for any name.
    """

    says_type = True

    names: Names
    with_one_of: Iterable[str] = ()

    @property
    def words(self) -> str:
        """For example "a list of different names out of EWC, MAS"."""
        words = f"a list of different names out of {', '.join(_listed(self.names))}"
        needed = list(self.with_one_of)
        return f"{words}, at least one of {', '.join(needed)} among them" if needed else words

    def holds(self, value: Any) -> bool:
        """Whether the list is not empty and has only possible names, each once."""
        names = _listed(self.names)
        needed = list(self.with_one_of) or names
        return (
            len(set(value)) == len(value) and set(value) <= set(names) and not set(value).isdisjoint(needed)
        )

    def problem(self, value: Any) -> str:
        """As for every limit, with the nearest name."""
        return super().problem(value) + (_hint(value, _listed(self.names)) if not self.holds(value) else "")


@dataclass(frozen=True)
class DifferentNumbers(Limit):
    """A list of different numbers, at least one.

    Attributes:
        each: What each of them has to be.
    """

    says_type = True

    each: Between

    @property
    def words(self) -> str:
        """For example "a list of different numbers, each at least 1"."""
        return f"a list of different numbers, each {self.each.words}"

    def holds(self, value: Any) -> bool:
        """Whether the list is not empty and its numbers are possible and differ."""
        return bool(value) and len(set(value)) == len(value) and all(map(self.each.holds, value))


def _listed(names: Any) -> list[Any]:
    return list(names() if callable(names) else names)


def _hint(values: Iterable[Any], known: Iterable[Any]) -> str:
    """The sentence ". Did you mean 'EWC'?" for the first value that is not known; else empty."""
    known = [str(name) for name in known]
    unknown = [str(value) for value in values if str(value) not in known]
    return f". {did_you_mean(unknown[0], known)}".rstrip(". ") if unknown else ""
