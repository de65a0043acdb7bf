"""The file `world.json`, which marks a dataset's folder as a synthetic world."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from driftlab.core.errors import DataError

FILE = "world.json"
REPAIR = "It belongs to a synthetic world: delete {place}, and it is made anew when it is next needed."


@dataclass(frozen=True)
class WorldMarker:
    """The generator and the arguments that made a synthetic world; equal markers mean equal files.

    Attributes:
        layout: The dataset whose layout it has ("nucla", "oak", …).
        version: Version of the generator, raised whenever its output changes.
        seed: Seed of the generator.
        sizes: The generator's other arguments by name, such as `{"sequences_per_class": 40}`.
    """

    layout: str
    version: int
    seed: int
    sizes: Mapping[str, int]

    @property
    def caption(self) -> str:
        """The phrase for captions, such as "seed 0, 40 sequences per class"."""
        sizes = (f"{size} {_in_words(name)}" for name, size in self.sizes.items())
        return ", ".join([f"seed {self.seed}", *sizes])

    def require_size(self, name: str, size: int, folder: Path, record: str | None = None) -> None:
        """Raise if a size of the world differs from the one that it was made with.

        Args:
            name: Which size, such as `sequences_per_class`.
            size: Its value in the files.
            folder: The world's folder, for the error.
            record: The record that has this size, for the error.

        Raises:
            DataError: The sizes differ.
        """
        if size != self.sizes.get(name, size):
            raise DataError(
                f"This world was made with {self.sizes[name]} {_in_words(name)}, and {size} are here.",
                file=folder,
                record=record,
            )

    def write(self, folder: Path) -> None:
        """Write the marker into `folder`."""
        content = {"layout": self.layout, "version": self.version, "seed": self.seed, **self.sizes}
        (folder / FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_marker(folder: Path) -> WorldMarker | None:
    """The marker in `folder`, or None where there is none (then the data are real).

    Raises:
        DataError: The marker is there and cannot be understood.
    """
    path = folder / FILE
    try:
        content = dict(json.loads(path.read_text(encoding="utf-8")))
        return WorldMarker(
            layout=str(content.pop("layout")),
            version=int(content.pop("version")),
            seed=int(content.pop("seed")),
            sizes={str(name): int(size) for name, size in content.items()},
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(
            f"This marker of a synthetic world cannot be read ({error}).",
            file=path,
            hint=REPAIR.format(place=folder),
        ) from error


def _in_words(size: str) -> str:
    return size.replace("_", " ")


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
