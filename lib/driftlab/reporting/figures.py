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

CHARACTERS_PER_INCH = 19
"""Characters per line of the grey text under a picture."""


def save_figure(
    figure: Figure,
    *,
    paper: str,
    artifact: str,
    title: str,
    caption: str,
    provenance: Provenance,
    alt: str = "",
    part: str = "",
    outputs: Path | None = None,
) -> Artifact:
    """Save a figure of a paper as .png (150 dpi) and .pdf, with a sidecar.

    A grey line under the picture names the data, so that a copied picture still says which data made it.

    Args:
        figure: The figure.
        paper: Key of the paper, for example `cgl`.
        artifact: Id of the artifact, for example `figure_2`.
        title: One line.
        caption: What is shown and how to read it.
        provenance: Which data and runs made it.
        alt: What a reader who cannot see it should know; by default title and caption.
        part: Which part of the artifact, where it is saved in several.
        outputs: Folder to write to; by default the project's.

    Returns:
        What was saved; a notebook shows it as a picture.

    Raises:
        ParameterError: The paper has no such artifact.
        StoreError: The outputs folder cannot be written to.
    """
    # Without wrapping, a long line would widen the picture.
    source = textwrap.fill(provenance.caption, max(40, int(CHARACTERS_PER_INCH * figure.get_figwidth())))
    line = figure.text(0.005, -0.01, source, fontsize=7, color="#666666", va="top", ha="left")
    try:
        with rc_context(RC):
            contents = {"png": _rendered(figure, "png"), "pdf": _rendered(figure, "pdf")}
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
        provenance=provenance,
        contents=contents,
        outputs=outputs,
    )


def _rendered(figure: Figure, kind: str) -> bytes:
    """Render a figure to bytes without a date, so that equal figures give equal files."""
    stream = io.BytesIO()
    metadata = {"Software": None} if kind == "png" else {"CreationDate": None}
    figure.savefig(stream, format=kind, dpi=DPI, bbox_inches="tight", metadata=metadata)
    return stream.getvalue()
