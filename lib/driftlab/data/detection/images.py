"""Reading images, so that a failure names the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, features

from driftlab.core.errors import DataError
from driftlab.data.files import read_bytes

FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "BMP", "GIF", "JPEG2000", "PPM", "TIFF")
"""Formats that are read, as Pillow names them. Not EPS and the like, for which Pillow runs other programs."""
SUFFIXES = tuple(
    f".{suffix}"
    for suffix in ("jpg", "jpeg", "png", "webp", "avif", "bmp", "gif", "jp2", "ppm", "pgm", "tif", "tiff")
)
EIGHT_BITS = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "La", "RGBa", "RGBX", "HSV", "LAB")
_UNREADABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)


def read_image(path: Path) -> NDArray[np.uint8]:
    """The pixels of an image.

    Args:
        path: A file in one of `FORMATS`; grey and CMYK images become RGB, transparency is dropped, and of an
            animation the first frame is read. An orientation flag is not followed: boxes refer to the stored
            pixels.

    Returns:
        uint8 (H, W, 3), RGB, a copy that may be changed.

    Raises:
        DataError: The file is absent, is no image, is cut short, or has more than eight bits per channel.
    """
    content = read_bytes(path)
    try:
        with _opened(content, path) as image:
            return np.array(image.convert("RGB"))
    except _UNREADABLE as error:
        raise DataError(
            f"This image cannot be decoded ({error}).",
            file=path,
            hint="It was cut short or damaged: get it again from where it came.",
        ) from error


def image_size(content: bytes, path: Path) -> tuple[int, int]:
    """Width and height in pixels as an image's header says; the pixels are not decoded.

    Args:
        content: The file's bytes.
        path: For the error.

    Raises:
        DataError: There is no readable header of one of `FORMATS`, or the image has more than eight bits per
            channel.
    """
    with _opened(content, path) as image:
        return image.width, image.height


def _opened(content: bytes, path: Path) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(content), formats=FORMATS)
    except _UNREADABLE as error:
        raise DataError(
            f"This is not a readable image ({_formats()} are read).",
            file=path,
            hint="It was cut short or damaged, or is of another format: get it again from where it came, or "
            "convert it.",
        ) from error
    if image.mode not in EIGHT_BITS:
        raise DataError(
            f"This image has more than eight bits per channel (Pillow's mode {image.mode}).",
            file=path,
            hint="Convert it to eight bits, with the scaling that suits it.",
        )
    return image


def _formats() -> str:
    """The formats that this Pillow can read."""
    optional = {"WEBP": "webp", "AVIF": "avif", "JPEG2000": "jpg_2000"}
    return ", ".join(name for name in FORMATS if name not in optional or features.check(optional[name]))
