"""Frames of one scenario: a table, figure or claim never mixes data, detectors or vocabularies."""

from __future__ import annotations

import pandas as pd

from driftlab.core.errors import ParameterError


def one_scenario(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """The frame, if its runs are of one scenario.

    Args:
        frame: With the column `scenario`.
        what: "table", "figure" or "claim", for the message.

    Raises:
        ParameterError: They are of none or of several.
    """
    names = sorted(frame["scenario"].unique())
    if len(names) != 1:
        raise ParameterError(
            f"A {what} is about one scenario; these runs are of: {', '.join(names) or 'none'}."
        )
    return frame
