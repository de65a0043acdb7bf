"""Values that are of the right kind and impossible all the same."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from driftlab.core.errors import ParameterError
from driftlab.core.paths import project_root
from driftlab.methods import METHODS
from driftlab.notebooks import changes, check_parameters, find, resolve
from driftlab.notebooks.limits import CGL_METHODS, LIMITS, OAK_METHODS
from driftlab.notebooks.overrides import check
from driftlab.papers.oak.experiment import METHODS as ON_A_STREAM


def test_the_methods_are_those_of_the_library() -> None:
    assert list(CGL_METHODS) == [name for name in METHODS if name != "JOINT"]
    assert OAK_METHODS == ON_A_STREAM


@pytest.mark.parametrize(
    ("notebook", "name", "value", "words"),
    [
        ("41", "orders", "1", "41_cgl_task_order's parameter 'orders' has to be from 2 to 120, not 1"),
        ("41", "orders", "121", "from 2 to 120, not 121"),
        ("41", "methods", "[]", "a list of different names out of BARE, EWC"),
        ("41", "methods", "[BARE, BARE]", "different names"),
        ("41", "methods", "[bare]", "out of BARE"),
        ("41", "methods", "[JOINT]", "out of BARE"),
        ("41", "seeds", "[]", "a list of different numbers, each from 0 to 4294967295"),
        ("41", "seeds", "[0, 0]", "different numbers"),
        ("41", "seeds", "[-1]", "from 0 to"),
        ("41", "seeds", "[4294967296]", "from 0 to"),
        ("21", "detector", "yolo", "has to be small or faster-rcnn-r50-c4, not 'yolo'"),
        ("21", "data", "nucla", "has to be world or oak, not 'nucla'"),
        ("21", "learning_rate", "0.0", "above 0 and finite"),
        ("21", "offline_learning_rate", ".inf", "above 0 and finite"),
        ("21", "strength", "-5.0", "at least 0 and finite"),
        ("21", "slots", "1000000", "from 1 to 10000"),
        ("21", "methods", "[Offline training]", "at least one of Incremental, EWC, iCaRL among them"),
        ("23", "methods", "[Non-adaptation]", "out of Incremental, EWC, iCaRL"),
        ("41", "engine", "foo", "has to be local or ray, not 'foo'"),
        ("41", "jobs", "-1", "at least 0, not -1"),
        ("41", "split_seed", "x", "at least 0, not 'x'"),
        ("41", "joint_orders", "0", "at least 1, not 0"),
        ("41", "stgcn_orders", "-1", "at least 0, not -1"),
        ("41", "width", "0", "at least 1, not 0"),
        ("41", "world_sequences", "2", "at least 10, not 2"),
        ("42", "with_task_orders", "1", "from 2 to 120, not 1"),
        ("42", "order_seed", "-1", "at least 0, not -1"),
        ("43", "depths", "[0]", "each at least 1"),
        ("43", "widths", "[]", "each at least 1"),
        ("44", "epochs", "0", "at least 1, not 0"),
        ("44", "grid", "{MAS: {}}", "without empty entries"),
    ],
)
def test_impossible_values(notebook: str, name: str, value: str, words: str) -> None:
    (found,) = find([notebook])
    with pytest.raises(ParameterError) as caught:
        resolve(found, "smoke", [(name, value)])
    assert words in str(caught.value)


@pytest.mark.parametrize("scale", ["demo", "smoke", "paper"])
def test_every_scale_is_possible(scale: Any) -> None:
    assert len(find()) > 5
    for notebook in find():
        values = {name: parameter.default for name, parameter in notebook.parameters.items()}
        check(notebook, values | resolve(notebook, scale))


def test_a_limit_belongs_to_a_parameter() -> None:
    names = {(notebook.name[:2], name) for notebook in find() for name in notebook.parameters}
    for limit in LIMITS:
        number, _, name = limit.rpartition(".")
        assert (number, name) in names if number else name in {one for _, one in names}, limit


def test_changes_are_told_from_the_scales_own_values() -> None:
    (notebook,) = find(["41"])
    demo = {name: parameter.default for name, parameter in notebook.parameters.items()}
    assert changes(notebook, demo) == {}
    assert changes(notebook, demo | {"epochs": 7, "jobs": 3, "data": "nucla"}) == {"epochs": 7}
    file = project_root() / "params" / "smoke" / f"{notebook.name}.yaml"
    smoke = demo | yaml.safe_load(file.read_text(encoding="utf-8"))
    assert changes(notebook, smoke) == {}
    assert changes(notebook, smoke | {"hyper": {"MAS": {"power": 1.0}}}) == {"hyper": {"MAS": {"power": 1.0}}}
    assert changes(notebook, smoke | {"scale": "paper"})["epochs"] == 4, "not what the scale is"


def test_a_running_notebook_learns_what_is_changed() -> None:
    (notebook,) = find(["41"])
    values = {name: parameter.default for name, parameter in notebook.parameters.items()}
    assert check_parameters("41", values | {"epochs": 9})["changed"] == {"epochs": 9}
