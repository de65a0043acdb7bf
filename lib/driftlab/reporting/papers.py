"""What the four papers print and claim: their artifacts, values and claims, read from `values/`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from driftlab.errors import ParameterError

PAPERS = ("csegg", "oak", "flpsg", "cgl")
VALUES = Path(__file__).parent / "values"

T = TypeVar("T")
Cell = float | str | tuple[float, float] | None


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that an experiment can bear out or contradict.

    Attributes:
        id: For example `cgl-2`.
        where: Section, table or figure of the paper.
        text: The claim.
    """

    id: str
    where: str
    text: str


@dataclass(frozen=True)
class ArtifactSpec:
    """A table, figure or theorem of a paper.

    Attributes:
        id: For example `table_2`.
        title: What it shows; empty where nothing but its number is known here.
        notebooks: The notebooks that regenerate it.
    """

    id: str
    title: str
    notebooks: tuple[str, ...]

    @property
    def label(self) -> str:
        """As the paper calls it, for example "Table 2"."""
        kind, number = self.id.split("_", 1)
        return f"{kind.capitalize()} {number}"


@dataclass(frozen=True)
class PaperTable:
    """A table as printed.

    Attributes:
        title: Its subject.
        unit: Unit of its numbers; may be empty.
        columns: Column labels.
        rows: Cells of each row, one a column: a number, a text, a pair or nothing.
        pair: How a pair is read: "±" (mean and standard deviation) or "/" (two metrics).
    """

    title: str
    unit: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    pair: str

    def text(self, cell: Cell) -> str:
        """A cell for the eye."""
        if cell is None:
            return "–"
        if isinstance(cell, tuple):
            return f" {self.pair} ".join(f"{number:.2f}" for number in cell)
        return cell if isinstance(cell, str) else plain_number(cell)


@dataclass(frozen=True)
class Paper:
    """One of the four papers.

    Attributes:
        key: `csegg`, `oak`, `flpsg` or `cgl`.
        title: The paper's title.
        tables: What its tables print, by artifact id.
        claims: What its text claims.
        artifacts: All its tables, figures and theorems.
    """

    key: str
    title: str
    tables: Mapping[str, PaperTable]
    claims: tuple[Claim, ...]
    artifacts: tuple[ArtifactSpec, ...]

    def artifact(self, name: str) -> ArtifactSpec:
        """The artifact of that id.

        Raises:
            ParameterError: The paper has none of that name; the text offers the nearest.
        """
        return _named(name, {spec.id: spec for spec in self.artifacts}, f"artifact of '{self.key}'")

    def claim(self, name: str) -> Claim:
        """The claim of that id.

        Raises:
            ParameterError: The paper makes no such claim; the text offers the nearest.
        """
        return _named(name, {claim.id: claim for claim in self.claims}, f"claim of '{self.key}'")


@cache
def paper(key: str) -> Paper:
    """A paper's printed values, claims and artifacts.

    Raises:
        ParameterError: There is no such paper.
    """
    file = _named(key, {name: VALUES / f"{name}.yaml" for name in PAPERS}, "paper")
    content = yaml.safe_load(file.read_text("utf-8"))
    specs = yaml.safe_load((VALUES / "artifacts.yaml").read_text("utf-8"))[key]
    return Paper(
        key=key,
        title=content["paper"],
        tables={name: _table(table) for name, table in content["tables"].items()},
        claims=tuple(Claim(**claim) for claim in content["claims"]),
        artifacts=tuple(
            ArtifactSpec(spec["id"], spec.get("title", ""), tuple(spec["notebooks"])) for spec in specs
        ),
    )


def settings_text(settings: Mapping[str, Any]) -> str:
    """Hyper-parameters for a table cell: "lambda_l 10000, beta 0.01"; a list of values is joined by "|"."""
    return ", ".join(
        f"{name} {'|'.join(map(plain_number, value)) if isinstance(value, Sequence) else plain_number(value)}"
        for name, value in settings.items()
    )


def plain_number(value: float) -> str:
    """A number without exponent or idle zeros."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.10g}"


def _table(content: Mapping[str, Any]) -> PaperTable:
    """Bring the papers' differently shaped tables into rows and columns."""
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


def _named(name: str, known: Mapping[str, T], what: str) -> T:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0)
    raise ParameterError(f"There is no {what} named '{name}'; the nearest is '{near[0]}'.")
