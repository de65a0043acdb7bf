"""Making a world's folder once: whole or not at all, by whichever process comes first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from driftlab.core.errors import DataError
from driftlab.core.files import whole_folder
from driftlab.core.paths import worlds_dir
from driftlab.data.markers import WorldMarker, read_marker


def make_once(folder: Path | str | None, marker: WorldMarker, write: Callable[[Path], None]) -> Path:
    """The folder of the world that `marker` describes, written by `write` if it is not there yet.

    The files are written beside it and renamed into place, under a lock: a kill leaves nothing half made
    under the folder's name, and of two processes one writes and the other waits.

    Args:
        folder: Where the world belongs; None for its place in `driftlab.core.paths.worlds_dir()`.
        marker: What makes the world.
        write: Writes the world's files into an empty folder.

    Raises:
        DataError: The folder holds something else, or cannot be written.
    """
    sizes = "".join(f"{size}x" for size in marker.sizes.values())
    name = f"{marker.layout}-v{marker.version}-{sizes}-seed{marker.seed}"
    place = (Path(folder) if folder is not None else worlds_dir() / name).resolve()
    if _is_there(place, marker):
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_name(f".{place.name}.lock")):
            if not _is_there(place, marker):
                with whole_folder(place) as partial:
                    write(partial)
                    marker.write(partial)
    except OSError as error:
        raise DataError(
            f"The synthetic world cannot be written here ({error.strerror}).", file=place
        ) from error
    return place


def _is_there(place: Path, marker: WorldMarker) -> bool:
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return False
    found = read_marker(place) if place.is_dir() else None
    if found == marker:
        return True
    what = f"another world ({_words(found)})" if found else "something else"
    raise DataError(
        f"A synthetic world should be made here ({_words(marker)}), and here is {what}.",
        file=place,
        hint="Choose another folder, or delete this one.",
    )


def _words(marker: WorldMarker) -> str:
    return f"{marker.layout}, version {marker.version}, {marker.caption}"
