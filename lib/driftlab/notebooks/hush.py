"""Other packages' notices that a reader of a notebook can do nothing about."""

from __future__ import annotations

import os
import warnings

NOTICES = ("`torch.jit.script` is deprecated",)


def hush() -> None:
    """Silence them in this process and in those that it starts."""
    for notice in NOTICES:
        warnings.filterwarnings("ignore", message=notice)
    ours = [f"ignore:{notice}" for notice in NOTICES]
    given = [one for one in os.environ.get("PYTHONWARNINGS", "").split(",") if one and one not in ours]
    os.environ["PYTHONWARNINGS"] = ",".join([*given, *ours])
