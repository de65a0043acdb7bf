"""NTU RGB+D as arrays: the npy file of ST-GCN's preparation and the npz file of CTR-GCN's.

Both are padded with zeros to 300 frames and large (the npz is 7 GB unpacked): rows are read one at a time,
and of those that are wanted only the frames up to the last one that is not empty are kept.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, MissingDataError
from driftlab.core.one_liners import python_command
from driftlab.data.skeletons.records import FARTHEST

JOINTS = 25
BODIES = 2
# RuntimeError: an encrypted member, or a compression that this Python lacks
_UNREADABLE_NPZ = (
    *(OSError, ValueError, EOFError, KeyError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
_UNPICKLE = (
    "import json, pickle, sys; "
    "json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'), default=int)"
)


def npy_rows(path: Path, count: int, wanted: Sequence[int]) -> Iterator[NDArray[np.float32]]:
    """Read the wanted samples of an npy file (`count`, 3, T, 25, 2) as (T, 2, 25, 3) without the padding.

    Raises:
        DataError: The file cannot be read or has another shape.
    """
    try:
        array = _npy(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"This is not a readable npy file ({error}).", file=path) from error
    _check(array.shape, array.dtype, (count, 3, "T", JOINTS, BODIES), path, None)
    for index in wanted:
        yield _trimmed(array[index].transpose(1, 3, 2, 0), path, index)


def npz_rows(path: Path, key: str, count: int, wanted: Sequence[int]) -> Iterator[NDArray[np.float32]]:
    """Read the wanted samples of an npz file's array (`count`, T, 150) as (T, 2, 25, 3), without padding.

    The last axis is flattened from (bodies, joints, xyz). `wanted` ascends.

    Raises:
        DataError: The file or the array in it cannot be read or has another shape.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{key}.npy") as stream:
            shape, dtype = _header(stream, path, key)
            _check(shape, dtype, (count, "T", BODIES * JOINTS * 3), path, key)
            size = shape[1] * shape[2] * dtype.itemsize
            start = stream.tell()
            for index in wanted:
                stream.seek(start + index * size)
                content = stream.read(size)
                if len(content) < size:
                    raise DataError("The array is cut short.", file=path, record=index, field=key)
                row = np.frombuffer(content, dtype).reshape(shape[1], BODIES, JOINTS, 3)
                yield _trimmed(row, path, index)
    except _UNREADABLE_NPZ as error:
        raise DataError(f"This is not a readable npz file ({error}).", file=path, field=key) from error


def npz_labels(path: Path, key: str) -> list[int]:
    """Read 0-based labels from a one-hot array (N, classes) in an npz file.

    Raises:
        DataError: The array is not there or not one-hot.
    """
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is not a zip archive of arrays; was it renamed?")
        with np.load(path, allow_pickle=False) as archive:
            one_hot = archive[key]
    except _UNREADABLE_NPZ as error:
        raise DataError(f"This is not a readable npz file ({error}).", file=path, field=key) from error
    if one_hot.ndim != 2 or not (np.isin(one_hot, (0, 1)).all() and (one_hot.sum(axis=1) == 1).all()):
        raise DataError(
            f"The labels must be one-hot (N, classes), not {one_hot.shape}.", file=path, field=key
        )
    return [int(label) for label in one_hot.argmax(axis=1)]


def read_labels(stem: Path) -> tuple[Path, list[str] | None, list[int]]:
    """Read 0-based labels, and names where the file has them, from `stem` with .json, .csv, .txt or .npy.

    JSON holds `[names, labels]` (as the published pickle does) or `{"names": …, "labels": …}`; CSV and text a
    line `name,label` or `name label` per sample; npy the labels alone.

    Returns:
        The file, its names or None, its labels.

    Raises:
        MissingDataError: There is no such file, or only a pickle.
        DataError: The file has another form.
    """
    readers = {".json": _json_labels, ".csv": _text_labels, ".txt": _text_labels, ".npy": _npy_labels}
    for suffix, reader in readers.items():
        path = stem.with_name(stem.name + suffix)
        if path.is_file():
            try:
                names, labels = reader(path)
            except (OSError, ValueError, EOFError, TypeError, KeyError, RecursionError) as error:
                raise DataError(f"These labels cannot be read ({error}).", file=path) from error
            return path, names, labels
    pickle = stem.with_name(stem.name + ".pkl")
    if pickle.is_file():
        command = python_command(_UNPICKLE, pickle, stem.with_name(stem.name + ".json"))
        hint = (
            "A pickle is never read here, because reading one runs whatever code it holds. If you trust the "
            f"file, convert it once:  {command}"
        )
        raise MissingDataError("The labels are there only as a pickle.", file=pickle, hint=hint)
    raise MissingDataError(
        "The labels are missing.", file=stem, hint=f"Put them there as one of {', '.join(readers)}."
    )


def _json_labels(path: Path) -> tuple[list[str], list[int]]:
    content: Any = json.loads(path.read_bytes())
    names, labels = (content["names"], content["labels"]) if isinstance(content, dict) else content
    return [str(name) for name in names], [_integer(label) for label in labels]


def _text_labels(path: Path) -> tuple[list[str], list[int]]:
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        parts = line.replace(",", " ").split()
        if len(parts) not in (0, 2):
            raise ValueError(f"line {number} must be a name and a label, not {line[:60]!r}")
        if parts:
            pairs.append((parts[0], int(parts[1])))
    return [name for name, _ in pairs], [label for _, label in pairs]


def _npy_labels(path: Path) -> tuple[None, list[int]]:
    labels = _npy(path)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(f"expected integers (N,), found {labels.dtype} {labels.shape}")
    return None, [int(label) for label in labels]


def _npy(path: Path, mmap_mode: Literal["r"] | None = None) -> NDArray[Any]:
    loaded = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise ValueError("it is an archive of several arrays; was it renamed?")
    return loaded


def _integer(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"a label must be an integer, not {value!r}")
    return value


def _header(stream: IO[bytes], path: Path, key: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call]
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)  # type: ignore[no-untyped-call]
    if fortran:
        raise DataError("The array is stored in Fortran order; save it in C order.", file=path, field=key)
    return shape, dtype


def _check(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    expected: tuple[str | int, ...],
    path: Path,
    key: str | None,
) -> None:
    fits = len(shape) == len(expected) and all(
        isinstance(want, str) or want == size for want, size in zip(expected, shape, strict=True)
    )
    if not fits or dtype.kind != "f" or 0 in shape:
        wanted = ", ".join(str(size) for size in expected)
        raise DataError(f"Expected floats of shape ({wanted}), found {dtype} {shape}.", file=path, field=key)


def _trimmed(row: NDArray[np.floating[Any]], path: Path, index: int) -> NDArray[np.float32]:
    """A copy of (T, 2, 25, 3) up to its last frame that is not all zeros."""
    if not np.isfinite(row).all():
        raise DataError("The sample holds a NaN or an infinity.", file=path, record=index)
    if float(np.abs(row).max()) > FARTHEST:
        raise DataError(f"The sample holds a position beyond {FARTHEST:,.0f} m.", file=path, record=index)
    filled = np.flatnonzero(row.any(axis=(1, 2, 3)))
    if len(filled) == 0:
        raise DataError("The sample is empty (all zeros).", file=path, record=index)
    return np.array(row[: filled[-1] + 1], dtype=np.float32, order="C")
