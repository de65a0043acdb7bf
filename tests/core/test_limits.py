"""What a value has to be, in a condition and in words."""

from math import inf, nan
from typing import Any

import pytest
from driftlab.core.limits import Between, DifferentNumbers, Limit, OneOf, SomeOf

METHODS = ["BARE", "EWC", "REPLAY"]


@pytest.mark.parametrize(
    ("limit", "values"),
    [
        (Between(1), [1, 10**9]),
        (Between(0, 1), [0, 0.5, 1]),
        (Between(0, above=True), [1e-9, 5]),
        (Between(0, 1, above=True), [0.1, 1.0]),
        (OneOf(("local", "ray")), ["ray"]),
        (OneOf((1, 2)), [1, 2.0]),
        (SomeOf(METHODS), [["EWC"], METHODS]),
        (SomeOf(METHODS, with_one_of=["EWC"]), [["EWC", "BARE"]]),
        (DifferentNumbers(Between(1)), [[3, 1]]),
    ],
)
def test_possible(limit: Limit, values: list[Any]) -> None:
    assert [limit.problem(value) for value in values] == [""] * len(values)


@pytest.mark.parametrize(
    ("limit", "value", "problem"),
    [
        (Between(1), 0, "has to be at least 1, not 0"),
        (Between(2, 120), 121, "has to be from 2 to 120, not 121"),
        (Between(0, above=True), 0.0, "has to be above 0, not 0.0"),
        (Between(0, 1, above=True), 1.5, "has to be above 0 and at most 1, not 1.5"),
        (Between(0), inf, "has to be finite and at least 0, not inf"),
        (Between(0), nan, "has to be finite and at least 0, not nan"),
        (OneOf(("local", "ray")), "slurm", "has to be local or ray, not 'slurm'"),
        (OneOf(lambda: METHODS), "EWCC", "has to be BARE, EWC or REPLAY, not 'EWCC'. Did you mean 'EWC'?"),
        (OneOf(("one",)), "xyz", "has to be one, not 'xyz'"),
        (SomeOf(METHODS), [], "has to be a list of different names out of BARE, EWC, REPLAY, not []"),
        (SomeOf(METHODS), ["EWC", "EWC"], "out of BARE, EWC, REPLAY, not ['EWC', 'EWC']"),
        (SomeOf(lambda: METHODS), ["EWC", "ewc"], "not ['EWC', 'ewc']. Did you mean 'EWC'?"),
        (SomeOf(METHODS, ["EWC"]), ["BARE"], "at least one of EWC among them, not ['BARE']"),
        (DifferentNumbers(Between(0, 9)), [], "a list of different numbers, each from 0 to 9, not []"),
        (DifferentNumbers(Between(0, 9)), [0, 0], "not [0, 0]"),
        (DifferentNumbers(Between(0, 9)), [0, -1], "not [0, -1]"),
    ],
)
def test_impossible(limit: Limit, value: Any, problem: str) -> None:
    assert limit.problem(value).endswith(problem)
    assert limit.problem(value).startswith("has to be ")
