"""What the papers print and claim: methods, artifacts, values and claims, read from `papers/*/paper.yaml`.

Nothing else lists papers; a new paper is a new folder with a `paper.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import driftlab
from driftlab.core.suggestions import look_up

PAPERS_FOLDER = Path(driftlab.__file__).parent / "papers"

Cell = float | str | tuple[float, float] | None


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that an experiment can bear out or contradict.

    Attributes:
        id: For example `cgl-2`.
        where: Section, table or figure of the paper.
        text: The claim.
        needs: Data that the claim cannot be judged without, for example "NTU"; empty where any data will do.
    """

    id: str
    where: str
    text: str
    needs: str = ""


@dataclass(frozen=True)
class PaperMethod:
    """How a method is named and drawn.

    Attributes:
        name: As the paper prints it.
        colour: Hexadecimal, of a palette that stays apart under the common colour blindnesses.
        marker: Matplotlib's marker.
        line: Matplotlib's line style.
    """

    name: str
    colour: str
    marker: str
    line: str


@dataclass(frozen=True)
class ArtifactSpec:
    """A table, figure or theorem of a paper.

    Attributes:
        id: For example `table_2`.
        title: What it shows.
        notebooks: The notebooks that regenerate it, also those that are still to be written.
    """

    id: str
    title: str
    notebooks: tuple[str, ...]

    @property
    def label(self) -> str:
        """The name that the paper uses, for example "Table 2"."""
        kind, number = self.id.split("_", 1)
        return f"{kind.capitalize()} {number}"


@dataclass(frozen=True)
class PaperTable:
    """A table as printed.

    Attributes:
        title: Its subject.
        unit: Unit of its numbers; may be empty.
        columns: Column labels.
        rows: Cells of each row, one per column: a number, a text, a pair or nothing.
        pair: How a pair is read: "±" (mean and standard deviation) or "/" (two metrics).
    """

    title: str
    unit: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    pair: str

    def text(self, cell: Cell) -> str:
        """A cell as a reader sees it."""
        if cell is None:
            return "–"
        if isinstance(cell, tuple):
            return f" {self.pair} ".join(f"{number:.2f}" for number in cell)
        return cell if isinstance(cell, str) else plain_number(cell)


@dataclass(frozen=True)
class Paper:
    """One paper.

    Attributes:
        key: Its folder's name under `papers/`, for example `cgl`.
        short: Its name in tables, for example "CGL".
        subject: What it is about, in a few words.
        title: The paper's title.
        citation: Authors, venue and year as far as known.
        notebooks: The notebooks that exist, in order.
        finished_scales: The scales at which all of them run to the end.
        methods: In the order of the paper's tables.
        tables: What its tables print, by artifact id.
        claims: What its text claims.
        artifacts: All its tables, figures and theorems.
    """

    key: str
    short: str
    subject: str
    title: str
    citation: str
    notebooks: tuple[str, ...]
    finished_scales: tuple[str, ...]
    methods: tuple[PaperMethod, ...]
    tables: Mapping[str, PaperTable]
    claims: tuple[Claim, ...]
    artifacts: tuple[ArtifactSpec, ...]

    def artifact(self, name: str) -> ArtifactSpec:
        """The artifact of that id.

        Raises:
            ParameterError: The paper has none of that name; the text offers the nearest.
        """
        return look_up(name, {spec.id: spec for spec in self.artifacts}, f"artifact of the paper {self.key}")

    def claim(self, name: str) -> Claim:
        """The claim of that id.

        Raises:
            ParameterError: The paper makes no such claim; the text offers the nearest.
        """
        return look_up(name, {claim.id: claim for claim in self.claims}, f"claim of the paper {self.key}")


@cache
def paper_keys() -> tuple[str, ...]:
    """The folders under `papers/` that hold a `paper.yaml`, in order of their notebooks' numbers."""
    first = {file.parent.name: _first_notebook(file) for file in PAPERS_FOLDER.glob("*/paper.yaml")}
    return tuple(sorted(first, key=lambda key: (first[key], key)))


def papers() -> tuple[Paper, ...]:
    """Every paper, in order of their notebooks' numbers."""
    return tuple(paper(key) for key in paper_keys())


@cache
def paper(key: str) -> Paper:
    """A paper's printed values, claims and artifacts.

    Raises:
        ParameterError: There is no such paper.
    """
    file = look_up(key, {name: PAPERS_FOLDER / name / "paper.yaml" for name in paper_keys()}, "paper")
    content = _content(file)
    return Paper(
        key=key,
        short=content["short"],
        subject=content["subject"],
        title=content["title"],
        citation=content["citation"],
        notebooks=tuple(content["notebooks"]),
        finished_scales=tuple(content["finished_scales"]),
        methods=tuple(PaperMethod(**method) for method in content["methods"]),
        tables={name: _table(table) for name, table in content["tables"].items()},
        claims=tuple(Claim(**claim) for claim in content["claims"]),
        artifacts=tuple(
            ArtifactSpec(spec["id"], spec["title"], tuple(spec["notebooks"])) for spec in content["artifacts"]
        ),
    )


@cache
def printed_rows(key: str, table: str) -> Mapping[str, Any]:
    """The rows of a paper's table as its `paper.yaml` has them, for example hyper-parameters by method.

    Args:
        key: The paper's.
        table: The artifact's id, for example `table_3`.
    """
    rows: Mapping[str, Any] = _content(PAPERS_FOLDER / key / "paper.yaml")["tables"][table]["rows"]
    return rows


def _content(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return content


def _first_notebook(file: Path) -> str:
    return min((name for spec in _content(file)["artifacts"] for name in spec["notebooks"]), default="")


def settings_text(settings: Mapping[str, Any]) -> str:
    """Write hyper-parameters for a table cell: "lambda_l 10000, beta 0.01"; lists are joined by "|"."""
    return ", ".join(
        f"{name} {'|'.join(map(plain_number, value)) if isinstance(value, Sequence) else plain_number(value)}"
        for name, value in settings.items()
    )


def plain_number(value: float) -> str:
    """Write a number without exponent and trailing zeros."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.10g}"


def _table(content: Mapping[str, Any]) -> PaperTable:
    """Convert a table of a `paper.yaml`, whose shapes differ, to rows and columns."""
    blocks = {name: block for name, block in content.items() if isinstance(block, dict) and name != "rows"}
    rows: dict[str, Any] = dict(content.get("rows", {}))
    for name, block in blocks.items():
        rows |= {f"{name} {row}": cells for row, cells in block.items()}
    columns = content.get("columns")
    if columns is None and all(_is_nested(cells) for cells in rows.values()):
        columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
        rows = {row: [settings_text(cells[column]) for column in columns] for row, cells in rows.items()}
    elif columns is None:
        columns = ["values"]
        rows = {
            row: [settings_text(cells) if isinstance(cells, dict) else "|".join(map(plain_number, cells))]
            for row, cells in rows.items()
        }
    unit = content.get("unit", "")
    return PaperTable(
        title=content["title"],
        unit=unit,
        columns=tuple(columns),
        rows={
            row: tuple(tuple(cell) if isinstance(cell, list) else cell for cell in cells)
            for row, cells in rows.items()
        },
        pair="±" if "standard deviation" in unit else "/",
    )


def _is_nested(cells: Any) -> bool:
    return isinstance(cells, dict) and all(isinstance(cell, dict) for cell in cells.values())
