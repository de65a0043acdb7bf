from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.runs.canonical import canonical_json
from driftlab.runs.experiment import StageId
from hypothesis import given, settings
from hypothesis import strategies as st


def test_order_of_keys_and_kind_of_sequence_do_not_matter() -> None:
    assert canonical_json({"b": [1, 2], "a": {"y": 1, "x": None}}) == b'{"a":{"x":null,"y":1},"b":[1,2]}'
    assert canonical_json({"a": (1, 2)}) == canonical_json({"a": [1, 2]})


def test_types_of_numbers_matter() -> None:
    assert len({canonical_json(value) for value in (1, 1.0, True)}) == 3


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_exact(value: float) -> None:
    back = json.loads(canonical_json(value))
    assert back == value and math.copysign(1, back) == math.copysign(1, value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"lr": [1.0, math.nan]}, r"^the config\.lr\[1\] is nan: only finite numbers"),
        ({"lr": math.inf}, r"^the config\.lr is inf"),
        ({"n": np.int64(3)}, r"^the config\.n is a numpy\.int64 .*int\(\)"),
        ({"n": np.float64(3)}, r"^the config\.n is a numpy\.float64"),
        ({"x": {3: 4}}, r"^the config\.x has the key 3: only strings"),
        ({"x": {1, 2}}, r"^the config\.x is a builtins\.set"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        canonical_json(value, "the config")


def test_every_part_of_a_stage_enters_its_key() -> None:
    base = ("cgl", 1, "abc", {"lr": 0.1})
    others = [("oak", 1, "abc", {"lr": 0.1}), ("cgl", 2, "abc", {"lr": 0.1}), ("cgl", 1, "abd", {"lr": 0.1})]
    others += [("cgl", 1, "abc", {"lr": 0.1000000000000001})]
    keys = {StageId(*parts).key for parts in [base, *others]}
    assert len(keys) == 5 and StageId(*base).key in keys
    assert all(len(key) == 64 for key in keys)


@pytest.mark.parametrize("name", ["", "../up", ".locks", "a/b", "a b"])
def test_an_experiments_name_must_name_a_folder(name: str) -> None:
    with pytest.raises(ParameterError, match="names a folder"):
        StageId(name, 1, "d", {})
