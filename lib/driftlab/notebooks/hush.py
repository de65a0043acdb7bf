"""Other packages' notices that a reader of a notebook can do nothing about."""

from __future__ import annotations

import os
import warnings

NOTICES = ("`torch.jit.script` is deprecated",)


def hush() -> None:
    """Silence these notices in this process and in the processes that it starts."""
    for notice in NOTICES:
        warnings.filterwarnings("ignore", message=notice)
    filters = [f"ignore:{notice}" for notice in NOTICES]
    given = [text for text in os.environ.get("PYTHONWARNINGS", "").split(",") if text and text not in filters]
    os.environ["PYTHONWARNINGS"] = ",".join([*given, *filters])
