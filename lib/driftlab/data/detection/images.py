"""Pictures from files, so that a failure names the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from driftlab.core.errors import DataError
from driftlab.data.files import read_bytes

HINT = "It was cut short or damaged: get it again from where it came."
SUFFIXES = (".jpg", ".jpeg")


def read_image(path: Path) -> NDArray[np.uint8]:
    """The pixels of a picture.

    Args:
        path: A file that Pillow can decode; grey and CMYK pictures become RGB. An orientation flag is not
            followed: boxes refer to the stored pixels.

    Returns:
        uint8 (H, W, 3), RGB, a copy that may be changed.

    Raises:
        DataError: The file is absent, is no picture, or is cut short.
    """
    try:
        with Image.open(io.BytesIO(read_bytes(path))) as picture:
            return np.array(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"This picture cannot be decoded ({error}).", file=path, hint=HINT) from error


def jpeg_size(content: bytes, path: Path) -> tuple[int, int]:
    """Width and height in pixels as the header of a JPEG says; the pixels are not decoded.

    Args:
        content: The file's bytes.
        path: For the error.

    Raises:
        DataError: There is no readable JPEG header.
    """
    try:
        with Image.open(io.BytesIO(content), formats=["JPEG"]) as picture:
            return picture.width, picture.height
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError("This is not a readable JPEG.", file=path, hint=HINT) from error
