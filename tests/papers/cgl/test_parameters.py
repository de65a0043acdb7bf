"""What the CGL notebooks' parameters can be."""

from __future__ import annotations

import pytest
from driftlab.core.errors import ParameterError
from driftlab.methods import METHODS
from driftlab.notebooks import find, resolve
from driftlab.papers.cgl.parameters import compared_methods

SESSIONS = ("40", "41", "42", "43", "44")


def test_the_compared_methods_are_those_of_the_library() -> None:
    assert compared_methods() == [name for name in METHODS if name != "JOINT"]


@pytest.mark.parametrize(
    ("notebook", "name", "value", "words"),
    [
        ("41", "orders", "1", "41_cgl_task_order's parameter 'orders' has to be from 2 to 120, not 1"),
        ("41", "orders", "121", "from 2 to 120, not 121"),
        ("41", "methods", "[]", "a list of different names out of BARE, EWC"),
        ("41", "methods", "[BARE, BARE]", "different names"),
        ("41", "methods", "[bare]", "Did you mean 'BARE'?"),
        ("41", "methods", "[JOINT]", "out of BARE"),
        ("41", "seeds", "[]", "a list of different numbers, each from 0 to 4294967295"),
        ("41", "seeds", "[4294967296]", "from 0 to"),
        ("41", "engine", "foo", "has to be local or ray, not 'foo'"),
        ("41", "jobs", "-1", "at least 0, not -1"),
        ("41", "split_seed", "x", "cannot be 'x': it should be a whole number or null"),
        ("41", "joint_orders", "0", "at least 1, not 0"),
        ("41", "width", "0", "at least 1, not 0"),
        ("41", "world_sequences", "2", "at least 10, not 2"),
        ("41", "data_folder", "somewhere", "data is 'world', which is made, not read"),
        ("41", "hyper", "{MAZ: {}}", "There is no method 'MAZ'. Did you mean 'MAS'?"),
        ("41", "hyper", "{MAS: {powr: 1}}", "hyper-parameter of MAS 'powr'. Did you mean 'power'?"),
        ("41", "hyper", "{MAS: {power: 3}}", "MAS's 'power' has to be 1 or 2, not 3"),
        ("41", "hyper", "{MAS: 3}", "should be a mapping of names to mappings of names to numbers"),
        ("42", "with_task_orders", "1", "from 2 to 120, not 1"),
        ("42", "order_seed", "-1", "at least 0, not -1"),
        ("43", "depths", "[0]", "each at least 1"),
        ("43", "widths", "[]", "each at least 1"),
        ("44", "epochs", "0", "at least 1, not 0"),
        ("44", "epochs", "010 000", "cannot be '010 000'"),
        ("44", "grid", "{}", "none of them empty, not {}"),
        ("44", "grid", "{MAS: {}}", "none of them empty"),
        ("44", "grid", "{MAS: {strength: []}}", "none of them empty"),
        ("44", "grid", "{MAS: {strength: [-1]}}", "MAS's 'strength' has to be at least 0, not -1"),
        ("44", "grid", "{MSA: {strength: [1]}}", "There is no method 'MSA'"),
        ("44", "split_seed", "1e3", "cannot be 1000.0: it should be a whole number or null"),
        ("00", "methods", "[JOIN]", "Did you mean 'JOINT'?"),
        *((number, "data", "oak", "has to be world, world-ntu, nucla or ntu") for number in SESSIONS),
        *((number, "data", "nukla", "Did you mean 'nucla'?") for number in SESSIONS),
    ],
)  # fmt: skip
def test_impossible_values(notebook: str, name: str, value: str, words: str) -> None:
    (found,) = find([notebook])
    with pytest.raises(ParameterError) as caught:
        resolve(found, "smoke", [(name, value)])
    assert words in str(caught.value)


def test_hyper_parameters_of_methods_that_are_not_compared() -> None:
    (notebook,) = find(["41"])
    given = [("methods", "[BARE, EWC]"), ("hyper", "{MAS: {power: 1}}")]
    with pytest.raises(ParameterError, match="hyper names MAS, which is not in methods: BARE, EWC"):
        resolve(notebook, "demo", given)
    assert resolve(notebook, "demo", [given[1]]) == {"hyper": {"MAS": {"power": 1}}}


def test_a_grid_of_another_method() -> None:
    (notebook,) = find(["44"])
    given = [("grid", "{LwF: {T: [1, 2.5]}}")]
    assert resolve(notebook, "demo", given) == {"grid": {"LwF": {"T": [1, 2.5]}}}
