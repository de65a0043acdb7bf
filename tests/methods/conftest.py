from collections.abc import Iterator

import pytest
import torch
from one_thread import one_thread

__all__ = ["one_thread"]


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    """Double precision, so that what is worked out by hand can be compared closely."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
