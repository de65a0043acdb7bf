"""How a folder says that its dataset is a synthetic world."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from driftlab.errors import DataError

FILE = "world.json"


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
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"This marker of a synthetic world cannot be read ({error}).",
            file=path,
            hint="Delete the folder; the world is made again when it is next needed.",
        ) from error
