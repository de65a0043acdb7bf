"""Memory settings for training on the CPU, and the choice of a device."""

from __future__ import annotations

import ctypes
import functools
import sys

import torch

from driftlab.core.devices import device_kind
from driftlab.core.errors import ParameterError

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@functools.cache
def keep_freed_memory() -> None:
    """Let the C library keep large freed blocks for the next allocation.

    By default glibc returns each block above some hundred kilobytes to the system immediately, so that the
    activations of every step cause page faults: about a tenth of an epoch's time.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            libc.mallopt(_M_MMAP_THRESHOLD, 1 << 30)
            libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)


def resolve_device(device: str) -> torch.device:
    """Return the PyTorch device of a name; `auto` means `driftlab.core.devices.device_kind`.

    Raises:
        ParameterError: The name is unknown, or this machine has no such device.
    """
    if device == "auto":
        return torch.device(device_kind())
    try:
        resolved = torch.device(device)
    except RuntimeError:
        raise ParameterError(
            f"device is {device!r}; it can be auto, cpu, cuda, or PyTorch's name of another device."
        ) from None
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        raise ParameterError(
            f"device is {device!r}, but PyTorch finds {torch.cuda.device_count()} CUDA devices here. "
            "Use auto or cpu."
        )
    return resolved
