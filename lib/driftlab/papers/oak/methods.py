"""The methods that learn a stream, by the name in the paper's tables; listing them imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftlab.core.registry import Registry

if TYPE_CHECKING:
    from driftlab.methods.base import Method

ONLINE: Registry[type[Method]] = Registry(
    {
        "Incremental": "driftlab.methods.bare:Bare",
        "EWC": "driftlab.methods.ewc:OnlineEWC",
        "iCaRL": "driftlab.methods.icarl:ICaRL",
    }
)
"""Methods that see every step of the stream once."""

METHODS = ("Non-adaptation", *ONLINE, "Offline training")
"""In the order in which the paper's tables list them."""
