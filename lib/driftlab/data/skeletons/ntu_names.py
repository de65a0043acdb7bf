"""Sample names of NTU RGB+D: SsssCcccPpppRrrrAaaa (setup, camera, performer, replication, action)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from driftlab.core.errors import DataError

# The training half of the cross-subject ("x-sub") protocol of Shahroudy et al., CVPR 2016.
TRAIN_PERFORMERS = frozenset((1, 2, 4, 5, 8, 9, 13, 14, 15, 16, 17, 18, 19, 25, 27, 28, 31, 34, 35, 38))
CLASSES = (
    "drink water",
    "eat meal",
    "brush teeth",
    "brush hair",
    "drop",
    "pick up",
    "throw",
    "sit down",
    "stand up",
    "clap",
)
_NAME = re.compile(r"S(\d{3})C(\d{3})P(\d{3})R(\d{3})A(\d{3})")


@dataclass(frozen=True)
class SampleName:
    """A parsed sample name.

    Attributes:
        setup: Camera set-up, 1..17 in NTU RGB+D (60 actions).
        camera: 1..3.
        performer: 1..40.
        replication: 1..2.
        action: 1..60.
    """

    setup: int
    camera: int
    performer: int
    replication: int
    action: int

    @classmethod
    def parse(cls, name: str, file: Path) -> SampleName:
        """Parse a name, with or without `.skeleton`; `file` is where it stands, for the error.

        Raises:
            DataError: The name has another form, or counts from 0.
        """
        match = _NAME.fullmatch(name.removesuffix(".skeleton"))
        if match is None:
            raise DataError(
                "A sample is named SsssCcccPpppRrrrAaaa, e.g. S001C002P003R001A004.", file=file, record=name
            )
        numbers = [int(part) for part in match.groups()]
        if 0 in numbers:
            raise DataError(
                "The numbers in a sample's name count from 1; this one has a 0.", file=file, record=name
            )
        return cls(*numbers)

    def __str__(self) -> str:
        numbers = (self.setup, self.camera, self.performer, self.replication, self.action)
        return "".join(f"{letter}{number:03d}" for letter, number in zip("SCPRA", numbers, strict=True))

    @property
    def wanted(self) -> bool:
        """Whether NTU-CIL uses it: A001–A010 by a performer of the x-sub training half."""
        return self.action <= len(CLASSES) and self.performer in TRAIN_PERFORMERS


def names_in(text: str) -> list[str]:
    """All sample names that occur in a text, such as the authors' list of damaged samples."""
    return [match.group() for match in _NAME.finditer(text)]
