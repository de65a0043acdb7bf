"""iCaRL as Wanderlust adapts it to detection."""

from __future__ import annotations

import numpy as np

from driftlab.methods.base import Method, Records, Task


class ICaRL(Method):
    """Every step also trains on one remembered record of each class (Wang et al. 2021, after Rebuffi 2017).

    The memory is the trainer's (`driftlab.methods.exemplars`), for it is part of the stream's protocol: EWC
    measures its Fisher on it. The released code's rehearsal leaves the RPN without negatives; here a
    remembered record trains like any other.
    """

    name = "iCaRL"

    def training_records(self, task: Task) -> Records:
        """The task's records and what was drawn from the memory."""
        return tuple(np.concatenate(parts) for parts in zip(task.records, task.remembered, strict=True))
