"""How a folder says that its dataset is a synthetic world."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from driftlab.errors import DataError

FILE = "world.json"
REPAIR = "It belongs to a synthetic world: delete {place}, and it is made anew when it is next needed."


@dataclass(frozen=True)
class WorldMarker:
    """What made a synthetic world; two equal markers stand for equal files.

    Attributes:
        layout: The dataset whose layout it has ("nucla", "ntu").
        version: Version of the generator, raised whenever its output changes.
        seed: Seed of the generator.
        sequences_per_class: How many sequences each class has.
    """

    layout: str
    version: int
    seed: int
    sequences_per_class: int

    @property
    def caption(self) -> str:
        """The phrase for captions."""
        return f"seed {self.seed}, {self.sequences_per_class} sequences a class"

    def write(self, folder: Path) -> None:
        """Leave the marker in `folder`."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def read_marker(folder: Path) -> WorldMarker | None:
    """The marker in `folder`, or None where there is none (then the data are real).

    Raises:
        DataError: The marker is there and cannot be understood.
    """
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return WorldMarker(
            layout=str(content["layout"]),
            version=int(content["version"]),
            seed=int(content["seed"]),
            sequences_per_class=int(content["sequences_per_class"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(
            f"This marker of a synthetic world cannot be read ({error}).",
            file=path,
            hint=REPAIR.format(place=folder),
        ) from error


def world_folder(folder: Path, inner: str) -> Path | None:
    """The folder with the marker of the world that `folder` is or lies in; None for real data.

    Args:
        folder: A dataset's folder, or the one in it that holds the sequences.
        inner: The name that the latter has in the dataset's layout. Whoever gives it, by its own path or
            through a link, still gives a world.
    """
    sequences = (folder / inner if (folder / inner).is_dir() else folder).resolve()
    places = (folder, sequences, *([sequences.parent] if sequences.name == inner else []))
    return next((place for place in places if (place / FILE).exists()), None)


@contextmanager
def reading(folder: Path, inner: str) -> Iterator[WorldMarker | None]:
    """The marker of a dataset that is being read; None for real data. See `world_folder`.

    Raises:
        DataError: The marker cannot be understood; or what the body raised, with advice that fits a world,
            which nobody can get again from where it came.
    """
    place = world_folder(folder, inner)
    marker = read_marker(place) if place else None
    try:
        yield marker
    except DataError as error:
        if place is None:
            raise
        raise type(error)(
            error.problem,
            file=error.file,
            record=error.record,
            field=error.field,
            hint=REPAIR.format(place=place),
        ) from error
