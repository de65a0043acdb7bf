"""Check that a run has not diverged."""

from __future__ import annotations

from torch import Tensor

from driftlab.core.errors import ParameterError


def require_finite(values: Tensor, what: str) -> None:
    """Raise an error if a value is NaN or infinite.

    Without this check a diverged run would get a result: argmax treats NaN as the largest logit, and NaN
    is below every score threshold of a detector.

    Args:
        values: Losses or parameters, of any shape.
        what: Description of the values for the message, such as "the loss in epoch 3 of task 2".

    Raises:
        ParameterError: A value is NaN or infinite.
    """
    finite = values.detach().isfinite()
    if not finite.all():
        raise ParameterError(
            f"The run diverged: {what} is {float(values.detach()[~finite][0]):g}. Lower the learning rate or "
            "the method's hyper-parameters."
        )
