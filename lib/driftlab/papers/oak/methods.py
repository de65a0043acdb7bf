"""The methods that learn a stream, by the name in the paper's tables; listing them imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftlab.core.registry import Registry

if TYPE_CHECKING:
    from driftlab.methods.base import Method

SHUFFLED = "Incremental, shuffled stream"
"""Ours: incremental fine-tuning on the same frames in a random order, with the same budget."""

ONLINE: Registry[type[Method]] = Registry(
    {
        "Incremental": "driftlab.methods.bare:Bare",
        "EWC": "driftlab.methods.ewc:OnlineEWC",
        "iCaRL": "driftlab.methods.icarl:ICaRL",
        SHUFFLED: "driftlab.methods.bare:Bare",
    }
)
"""Methods that learn so many frames at every step, and see each frame once."""

OPTIONS: dict[str, tuple[str, ...]] = {"EWC": ("fisher", "half_penalty"), "iCaRL": ("rehearsal",)}
"""The settings of a run that a method's constructor takes besides its hyper-parameters."""

WITHOUT_MEMORY = ("Incremental", SHUFFLED)

METHODS = ("Non-adaptation", *ONLINE, "Offline training")
"""In the order in which the paper's tables list them, ours before the upper bound."""
