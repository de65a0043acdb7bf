"""Reading a parameters cell without executing it, and writing one from its model."""

from typing import Annotated, Any

import pytest
from driftlab.core.errors import ParameterError
from driftlab.notebooks.cell import model_of_cell, parse_cell, write_cell
from driftlab.notebooks.parameters import NotebookParameters, has_type, machine, protocol, question

CELL = """\
from typing import Literal

# Question: which
epochs = 100  # passes over a task's data
methods: list[str] = [
    "BARE",
    "EWC",  # the first of the regularisers
]
rate: float = 1e-3
engine: Literal["local", "ray"] = "local"
limit: int | None = None
"""


def model(cell: str) -> type[NotebookParameters]:
    return model_of_cell(parse_cell(cell, "41.ipynb"), "41.ipynb")


def accepts(cell: str, value: Any) -> bool:
    (field,) = model(cell).model_fields.values()
    return has_type(field, value)


def test_reads_names_and_values() -> None:
    values = {name: one.value for name, one in parse_cell(CELL, "41.ipynb").items()}
    assert values == {
        "epochs": 100,
        "methods": ["BARE", "EWC"],
        "rate": 1e-3,
        "engine": "local",
        "limit": None,
    }
    assert model(CELL).defaults() == values
    assert model(CELL).grouped()["machine"] == ["engine"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("import os\nseed = os.getpid()", r"41: .*cannot hold `seed = os.getpid\(\)` \(line 2\): .*literal"),
        ("a = b = 1", "one literal to one name"),
        ("print(1)", r"cannot hold `print\(1\)`"),
        ("a = 1\nepochs = = 1", "line 2 of the parameters cell is not Python"),
    ],
)
def test_refuses_what_is_not_a_literal(cell: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_cell(cell, "41")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("epochs: Epochs = 1", "the parameter 'epochs' .*: 'Epochs' is not a type of parameter"),
        ("epochs: print() = 1", r"'print\(\)' is not a type of parameter"),
        ("epochs: int[int] = 1", r"'int\[int\]' is not a type of parameter"),
        ("epochs = {1, 2}", "a set cannot be a parameter"),
        ("epochs = (1, 2)", "a tuple cannot be a parameter"),
    ],
)
def test_refuses_what_has_no_type(cell: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        model(cell)


def test_nothing_is_executed() -> None:
    with pytest.raises(ParameterError):
        parse_cell("raise SystemExit('executed')", "41")
    with pytest.raises(ParameterError):
        model("epochs: exit(3) = 1")


@pytest.mark.parametrize(
    ("cell", "value", "expected"),
    [
        ("x = 1.0", 1, True),
        ("x = 1", 1.0, False),
        ("x = 1", True, False),
        ("x = 1.0", True, False),
        ("x = 1", "1", False),
        ("x = True", 1, False),
        ("x = [0, 1.5]", [1, 2.5], True),
        ("x = [0, 1.5]", [1, "2"], False),
        ("x = [0, 1]", [0.5], False),
        ("x = [[0, 1]]", [[2]], True),
        ("x = ['a']", "a", False),
        ("x = [0, 'a']", [None], True),
        ("x = []", ["a", 1], True),
        ("x = {}", {"a": 1}, True),
        ("x = None", "text", True),
        ("x = None", True, False),
        ("x: int | None = 1", None, True),
        ("x = 1", None, False),
        ("x: Literal['local', 'ray'] = 'local'", "ray", True),
        ("x: Literal['local', 'ray'] = 'local'", "Ray", False),
        ("x: list[Literal['BARE', 'EWC']] = []", ["BARE"], True),
        ("x = {'EWC': 1, 'MAS': 2.0}", {"EWC": 3}, True),
        ("x = {'EWC': 1, 'MAS': 2.0}", {"EWC": "much"}, False),
    ],
)
def test_the_type_of_a_value(cell: str, value: object, expected: bool) -> None:
    assert accepts(cell, value) is expected


class Model(NotebookParameters):
    jobs: Annotated[int, machine("processes")] = 0
    rate: Annotated[float, protocol("of the optimiser")] = 1e-3
    data: Annotated[str, question('a "world"')] = 'the "small" one'
    grid: Annotated[dict[str, list[float]], question("values")] = {  # noqa: RUF012
        "first of them, whose name is long": [1.0, 2.0],
        "second of them, whose name is long, too": [3.0],
    }
    split: Annotated[int | None, protocol("seed")] = None
    pictures: Annotated[bool, question("whether")] = True


def test_a_cell_is_written_in_groups_and_read_back() -> None:
    text = write_cell(Model)
    assert text == (
        "# Question: what is compared, and on which data\n"
        'data = "the \\"small\\" one"  # a "world"\n'
        "grid = {  # values\n"
        '    "first of them, whose name is long": [1.0, 2.0],\n'
        '    "second of them, whose name is long, too": [3.0],\n'
        "}\n"
        "pictures = True  # whether\n"
        "\n"
        "# Protocol: how it is trained and evaluated\n"
        "rate = 0.001  # of the optimiser\n"
        "split = None  # seed\n"
        "\n"
        "# Machine: where it runs and where files lie; results do not depend on it\n"
        "jobs = 0  # processes"
    )
    assert {name: one.value for name, one in parse_cell(text, "x").items()} == Model.defaults()
