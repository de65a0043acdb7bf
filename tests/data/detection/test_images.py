from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError
from driftlab.data.detection.images import SUFFIXES, image_size, read_image
from PIL import Image


def save(path: Path, mode: str = "RGB", size: tuple[int, int] = (48, 32)) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(noise).convert(mode).save(path, quality=95)
    return path


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_every_kind_of_jpeg_becomes_rgb(tmp_path, mode):
    path = save(tmp_path / "a.jpg", mode)
    pixels = read_image(path)
    assert pixels.shape == (32, 48, 3) and pixels.dtype == np.uint8
    assert image_size(path.read_bytes(), path) == (48, 32)
    pixels[0] = 0  # a copy


def test_channels_are_red_green_blue(tmp_path):
    Image.new("RGB", (16, 16), (250, 120, 10)).save(tmp_path / "a.jpg", quality=95)
    assert np.abs(read_image(tmp_path / "a.jpg")[8, 8].astype(int) - (250, 120, 10)).max() < 6


def test_the_stored_pixels_count_not_the_orientation_flag(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown turned by a quarter
    Image.new("RGB", (48, 32)).save(tmp_path / "a.jpg", exif=exif)
    assert read_image(tmp_path / "a.jpg").shape == (32, 48, 3)
    assert image_size((tmp_path / "a.jpg").read_bytes(), tmp_path) == (48, 32)


def test_a_truncated_picture_is_found_when_its_pixels_are_read(tmp_path):
    path = save(tmp_path / "a.jpg")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert image_size(path.read_bytes(), path) == (48, 32), "the header is whole"
    with pytest.raises(DataError, match=r"a\.jpg: This image cannot be decoded .*truncated.* get it again"):
        read_image(path)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xd8\xff", b"no picture at all" * 20, b"%!PS-Adobe-3.0 EPSF-3.0\n"]
)
def test_what_is_no_image(tmp_path, content):
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    for read in (lambda: image_size(content, path), lambda: read_image(path)):
        with pytest.raises(
            DataError, match=r"a\.jpg: This is not a readable image \(JPEG, PNG, WEBP, .*\)\. It"
        ):
            read()


@pytest.mark.parametrize(
    ("suffix", "mode"),
    [
        ("png", "RGBA"),
        ("png", "P"),
        ("png", "LA"),
        ("png", "1"),
        ("webp", "RGB"),
        ("gif", "P"),
        ("tiff", "CMYK"),
    ],
)
def test_formats_and_modes_of_eight_bits(tmp_path, suffix, mode):
    path = save(tmp_path / f"a.{suffix}", mode)
    assert image_size(path.read_bytes(), path) == (48, 32)
    assert read_image(path).shape == (32, 48, 3)
    assert path.suffix in SUFFIXES


@pytest.mark.parametrize("mode", ["I;16", "F"])
def test_more_than_eight_bits_are_not_clipped_in_silence(tmp_path, mode):
    path = tmp_path / "a.tiff"
    Image.new(mode, (8, 8), 1000).save(path)
    with pytest.raises(
        DataError, match=rf"more than eight bits per channel \(Pillow's mode {mode}\)\. Convert"
    ):
        read_image(path)


def test_a_picture_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"none\.jpg: This file cannot be read \(No such file"):
        read_image(tmp_path / "none.jpg")
