"""Saving a figure as PNG and PDF with its provenance."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from driftlab.reporting.artifacts import save_artifact
from driftlab.reporting.sidecars import Artifact, Provenance
from driftlab.reporting.style import DPI, RC

CHARACTERS_AN_INCH = 19
"""Of the grey line."""


def save_figure(
    figure: Figure,
    *,
    paper: str,
    artifact: str,
    title: str,
    caption: str,
    made: Provenance,
    alt: str = "",
    part: str = "",
    outputs: Path | None = None,
) -> Artifact:
    """Save a figure of a paper as .png (150 dpi) and .pdf, with a sidecar.

    A grey line under the picture names the data, so that a picture which is copied away still says what made
    it.

    Args:
        figure: The figure.
        paper: Key of the paper, for example `cgl`.
        artifact: Id of the artifact, for example `figure_2`.
        title: One line.
        caption: What is shown and how to read it.
        made: Which data and runs made it.
        alt: What a reader who cannot see it should know; by default title and caption.
        part: Which part of the artifact, where it is saved in several.
        outputs: Folder to write to; by default the project's.

    Returns:
        What was saved; a notebook shows it as a picture.

    Raises:
        ParameterError: The paper has no such artifact.
        StoreError: The outputs folder cannot be written to.
    """
    # A line that is longer than the picture is wide would make it wider.
    source = textwrap.fill(made.caption, max(40, int(CHARACTERS_AN_INCH * figure.get_figwidth())))
    line = figure.text(0.005, -0.01, source, fontsize=7, color="#666666", va="top", ha="left")
    try:
        with rc_context(RC):
            contents = {"png": _drawn(figure, "png"), "pdf": _drawn(figure, "pdf")}
    finally:
        line.remove()
    return save_artifact(
        kind="figure",
        paper=paper,
        artifact=artifact,
        part=part,
        title=title,
        caption=caption,
        alt=alt or f"{title}. {caption}",
        made=made,
        contents=contents,
        outputs=outputs,
    )


def _drawn(figure: Figure, kind: str) -> bytes:
    """The figure as a file without a date, so that equal figures are equal files."""
    stream = io.BytesIO()
    metadata = {"Software": None} if kind == "png" else {"CreationDate": None}
    figure.savefig(stream, format=kind, dpi=DPI, bbox_inches="tight", metadata=metadata)
    return stream.getvalue()
