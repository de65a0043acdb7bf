"""What the OAK notebooks' parameters can be."""

from __future__ import annotations

import pytest
from driftlab.core.errors import ParameterError
from driftlab.notebooks import find, resolve
from driftlab.papers.oak.parameters import NOTEBOOKS


@pytest.mark.parametrize(
    ("notebook", "name", "value", "words"),
    [
        ("21", "detector", "yolo", "has to be small or faster-rcnn-r50-c4, not 'yolo'"),
        ("21", "data", "nucla", "has to be world or oak, not 'nucla'"),
        ("20", "data", "voc", "has to be world or oak, not 'voc'"),
        ("21", "learning_rate", "0.0", "above 0, not 0.0"),
        ("21", "offline_learning_rate", ".inf", "finite and above 0"),
        ("21", "strength", "-5.0", "at least 0, not -5.0"),
        ("21", "slots", "1000000", "from 1 to 10000"),
        ("21", "batch", "-2", "at least 0, not -2"),
        ("21", "methods", "[Offline training]", "at least one of Incremental, EWC, iCaRL"),
        ("22", "methods", "[Ofline training]", "Did you mean 'Offline training'?"),
        ("23", "methods", "[Non-adaptation]", "out of Incremental, EWC, iCaRL"),
        ("23", "weights", "gaps", "has to be excess or gap, not 'gaps'. Did you mean 'gap'?"),
        ("24", "stretch", "7", "24_oak_transfer: a stretch has to be a multiple of the interval (10 "),
        ("24", "stretch", "100", "a stretch has to fit twice into the stream (100 steps), not 100."),
        ("24", "world_steps", "11", "at least 12, not 11"),
        ("22", "checkpoint", "a.pth", "checkpoint is a detector of VOC's 20 classes, for official data"),
        ("22", "data_folder", "somewhere", "data is 'world', which is made, not read"),
        ("22", "mixed_precision", "yes", "cannot be 'yes': it should be true or false"),
    ],
)  # fmt: skip
def test_impossible_values(notebook: str, name: str, value: str, words: str) -> None:
    (found,) = find([notebook])
    with pytest.raises(ParameterError) as caught:
        resolve(found, "demo", [(name, value)])
    assert words in str(caught.value)


def test_a_long_stretch_of_official_data() -> None:
    (notebook,) = find(["24"])
    assert resolve(notebook, "demo", [("stretch", "100"), ("data", "oak")]) == {"stretch": 100, "data": "oak"}


def test_what_does_not_change_results_is_in_the_group_machine() -> None:
    for model in NOTEBOOKS.values():
        assert set(model.grouped()["machine"]) <= {"data_folder", "engine", "jobs", "cached"}
