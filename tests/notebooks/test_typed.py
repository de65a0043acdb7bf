"""Values as people type them."""

from pathlib import Path
from typing import Any

import pytest
from driftlab.core.errors import ParameterError
from driftlab.notebooks.typed import parse_value, read_scale_file


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 10),  # 8 in YAML 1.1
        ("0", 0),
        ("-3", -3),
        ("1_000", 1000),
        ("1_000.5", 1000.5),
        ("1:30", "1:30"),  # 90
        ("yes", "yes"),  # true
        ("off", "off"),  # false
        ("0x10", "0x10"),  # 16
        ("0b11", "0b11"),  # 3
        ("1e-3", 1e-3),  # text
        ("1e3", 1e3),
        ("5.", 5.0),
        (".5", 0.5),
        ("1_", "1_"),
        (".inf", float("inf")),
        ("True", True),
        ("false", False),
        ("null", None),
        ("", None),
        ("2024-13-45", "2024-13-45"),
        ("2024-12-01", "2024-12-01"),  # a date
        ("[08, on, 1e2]", [8, "on", 100.0]),
        ("{EWC: {strength: 1e6}}", {"EWC": {"strength": 1e6}}),
        ("[0, 1", "[0, 1"),
    ],
)
def test_scalars_are_read_as_a_person_means_them(text: str, value: Any) -> None:
    read = parse_value(text, None)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("epochs: 010", "'epochs' can be read in two ways, as 10 or (papermill) as 8. Write 10."),
        ("rate: 1e-3", "'rate' can be read in two ways, as 0.001 or (papermill) as '1e-3'. Write 0.001."),
        ("on: true", "'on' can be read in two ways, as True or (papermill) as None"),
        ("augment: yes", "as 'yes' or (papermill) as True. Write 'yes'."),
        ("rates: [1e3, 2]", "as [1000.0, 2] or (papermill) as ['1e3', 2]. Write [1000.0, 2]."),
    ],
)
def test_a_file_has_one_reading(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "41_x.yaml"
    path.write_text(f"{line}\n")
    with pytest.raises(ParameterError) as error:
        read_scale_file(path)
    assert str(error.value).startswith(f"{path}: ") and message in str(error.value)


def test_a_file_that_both_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "41_x.yaml"
    path.write_text("epochs: 10\nrate: 1.0e-3\nmethods: [EWC]\nseed: null\nname: 'yes'\n")
    assert read_scale_file(path) == {
        "epochs": 10,
        "rate": 1e-3,
        "methods": ["EWC"],
        "seed": None,
        "name": "yes",
    }
