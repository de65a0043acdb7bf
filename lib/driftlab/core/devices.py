"""Which kind of device sweeps compute on, and which CUDA devices there are."""

from __future__ import annotations

import os
from typing import Literal

from driftlab.core.errors import ParameterError

VARIABLE = "DRIFTLAB_DEVICE"

DeviceKind = Literal["cpu", "cuda"]


def device_kind() -> DeviceKind:
    """The kind of device that experiments compute on where they are not told: `cpu` or `cuda`.

    `$DRIFTLAB_DEVICE` (`cpu`, `cuda`) decides; unset, empty or `auto` it is `cuda` where PyTorch finds a CUDA
    device. Set it to `cuda` where a machine without one uses a Ray cluster that has them.

    Raises:
        ParameterError: The variable holds something else.
    """
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    if wanted in ("", "auto"):
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cpu":
        return "cpu"
    if wanted == "cuda":
        return "cuda"
    raise ParameterError(
        f"The environment variable {VARIABLE} is {wanted!r}; it can be auto, cpu or cuda. "
        "Which of several CUDA devices are used is said with CUDA_VISIBLE_DEVICES."
    )


def cuda_devices() -> tuple[str, ...]:
    """The CUDA devices that this process may use, each as `CUDA_VISIBLE_DEVICES` names it."""
    import torch

    count = torch.cuda.device_count()
    named = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    # CUDA ignores whatever follows the first name that is not a device.
    return tuple(named[:count] if named else map(str, range(count)))
