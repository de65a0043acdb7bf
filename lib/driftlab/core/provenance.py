"""The data behind a result: contract 5."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["official", "subset", "synthetic"]


def of_change(changed: Mapping[str, Any]) -> str:
    """Ending of a folder's name that keeps results with changed parameters apart; empty without changes.

    Args:
        changed: Parameters that differ from the scale's own, by name.
    """
    if not changed:
        return ""
    text = json.dumps(changed, sort_keys=True, default=str)
    return f"-changed-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


@dataclass(frozen=True)
class Source:
    """Origin of a dataset.

    Attributes:
        kind: `official` (complete, as published), `subset` (a real part of it) or `synthetic` (a world).
        name: The dataset's name in `driftlab.data.catalog` ("nucla", "ntu"), also for its synthetic stand-in.
        detail: One phrase for captions: counts, or the world's seed.
        digest: SHA-256 over everything that was read, hexadecimal; equal digests mean equal data.
    """

    kind: Kind
    name: str
    detail: str
    digest: str

    @property
    def caption(self) -> str:
        """The line that stands under every table and figure."""
        words = {"official": "official data", "subset": "a real subset", "synthetic": "a synthetic world"}
        return f"{self.name}: {words[self.kind]} ({self.detail})"
