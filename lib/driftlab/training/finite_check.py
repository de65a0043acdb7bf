"""What diverges has no result."""

from __future__ import annotations

from torch import Tensor

from driftlab.core.errors import ParameterError


def require_finite(values: Tensor, what: str) -> None:
    """Refuse to go on with numbers that are none.

    Not a number is the first class to argmax and below every threshold of a detector: a run that diverged
    would have an accuracy, and a precision.

    Raises:
        ParameterError: A value is not finite.
    """
    finite = values.detach().isfinite()
    if not finite.all():
        raise ParameterError(
            f"The run diverged: {what} is {float(values.detach()[~finite][0]):g}. Lower the learning rate or "
            "the method's hyper-parameters."
        )
