"""Write a small copy of a figure for the README's gallery: at most 60 KB, in docs/gallery/.

python tools/gallery.py outputs/reference/demo/figures/FOLDER/NAME.png stream.png
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
LIMIT = 60_000
WIDTHS = (760, 680, 600, 520, 440)
COLOURS = (128, 64, 32)


def small_png(picture: Image.Image) -> bytes:
    """The widest copy with the most colours that stays within the limit.

    Raises:
        SystemExit: Even the smallest copy is too large.
    """
    rgb = picture.convert("RGB")
    for width in WIDTHS:
        scale = min(1.0, width / rgb.width)
        copy = rgb.resize((round(rgb.width * scale), round(rgb.height * scale)), Image.Resampling.LANCZOS)
        for colours in COLOURS:
            stream = io.BytesIO()
            reduced = copy.quantize(colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            reduced.save(stream, "png", optimize=True)
            if stream.tell() <= LIMIT:
                return stream.getvalue()
    raise SystemExit(f"No copy of the picture is within {LIMIT // 1000} KB; choose a simpler figure.")


def main() -> None:
    """Read the figure and write its copy."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figure", type=Path)
    parser.add_argument("name", help="file name in docs/gallery/")
    given = parser.parse_args()
    with Image.open(given.figure) as picture:
        content = small_png(picture)
    GALLERY.mkdir(parents=True, exist_ok=True)
    (GALLERY / given.name).write_bytes(content)
    print(f"{GALLERY / given.name}: {len(content) // 1000} KB")


if __name__ == "__main__":
    main()
