"""Reading a parameters cell without executing it."""

import pytest
from driftlab.core.errors import ParameterError
from driftlab.notebooks import parse_cell
from driftlab.notebooks.kinds import fits, kind_of

CELL = """\
from typing import Literal

epochs = 100  # passes over a task's data
# Which methods,
# in the order of the table.
methods: list[str] = [
    "BARE",
    "EWC",  # the first of the regularisers
]
rate: float = 1e-3
engine: Literal["local", "ray"] = "local"
data_folder = ""  # "" is the dataset's own place
limit: int | None = None
"""


def test_reads_names_defaults_kinds_and_comments() -> None:
    found = parse_cell(CELL, "41.ipynb")

    assert [one.default for one in found.values()] == [100, ["BARE", "EWC"], 1e-3, "local", "", None]
    assert [one.kind for one in found.values()] == [
        "int",
        "list[str]",
        "float",
        "Literal['local', 'ray']",
        "str",
        "int | None",
    ]
    assert found["epochs"].comment == "passes over a task's data"
    assert found["rate"].comment == ""
    assert found["data_folder"].comment == '"" is the dataset\'s own place'


def test_comment_above_belongs_to_the_line_below_it() -> None:
    assert parse_cell("# how many\n# of them\nn = 1\n", "x")["n"].comment == "how many of them"
    assert parse_cell("m = 2  # of m\nn = 1\n", "x")["n"].comment == ""


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("import os\nseed = os.getpid()", r"41: .*cannot hold `seed = os.getpid\(\)` \(line 2\): .*literal"),
        ("a = b = 1", "one literal to one name"),
        ("print(1)", r"cannot hold `print\(1\)`"),
        ("epochs: int = 1.5", "its default is not of its own kind, int"),
        ("epochs: Epochs = 1", "'Epochs' is not a kind of parameter"),
        ("epochs = {1, 2}", "a set cannot be a parameter"),
        ("a = 1\nepochs = = 1", "line 2 of the parameters cell is not Python"),
    ],
)
def test_refuses_what_is_not_a_literal(cell: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_cell(cell, "41")


def test_nothing_is_executed() -> None:
    with pytest.raises(ParameterError):
        parse_cell("raise SystemExit('executed')", "41")


@pytest.mark.parametrize(
    ("default", "kind"),
    [
        (True, "bool"),
        (1, "int"),
        (1.0, "float"),
        ("", "str"),
        (None, "str | int | float | None"),
        ([0, 1], "list[int]"),
        ([0, 1.5], "list[float]"),
        ([0, "a"], "list"),
        ([], "list"),
        ({"EWC": {"strength": 1}, "LwF": {"T": 2.0}}, "dict"),
        ({"EWC": 1, "MAS": 2.0}, "dict[str, float]"),
        ([[0, 1], [2, 3]], "list[list[int]]"),
    ],
)
def test_kind_of_a_default(default: object, kind: str) -> None:
    assert kind_of(default) == kind
    assert fits(default, kind)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1, "float", True),
        (1.0, "int", False),
        (True, "int", False),
        (True, "float", False),
        (1, "bool", False),
        ([1, 2.5], "list[float]", True),
        ([1, "2"], "list[float]", False),
        ("1", "list[str]", False),
        (None, "int", False),
        (None, "int | None", True),
        ("x", "str | int | float | None", True),
        (True, "str | int | float | None", False),
        ("ray", "Literal['local', 'ray']", True),
        ("Ray", "Literal['local', 'ray']", False),
        (True, "Literal[1, 2]", False),
        (["BARE"], "list[Literal['BARE', 'EWC']]", True),
        ({"EWC": 1}, "dict[str, float]", True),
        ({"EWC": "much"}, "dict[str, float]", False),
    ],
)
def test_values_of_a_kind(value: object, kind: str, expected: bool) -> None:
    assert fits(value, kind) is expected
