"""Devices by name, and the allocator."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.training.cpu_settings import keep_freed_memory, resolve_device


def test_devices_by_name() -> None:
    assert resolve_device("cpu") == torch.device("cpu")
    assert resolve_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_auto_takes_cuda_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto") == torch.device("cuda")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", r"device is 'gpu'; it can be auto, cpu, cuda, or PyTorch's name of another device"),
        ("", "device is ''; it can be auto"),
        ("cuda:99", r"device is 'cuda:99', but PyTorch finds \d+ CUDA devices here\. Use auto or cpu"),
    ],
)
def test_what_is_no_device(name: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        resolve_device(name)


def test_cuda_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ParameterError, match="device is 'cuda', but PyTorch finds 0 CUDA devices here"):
        resolve_device("cuda")


def test_kept_memory_does_no_harm() -> None:
    code = """
import torch
from driftlab.core.errors import ParameterError
from driftlab.training.cpu_settings import keep_freed_memory
for _ in range(2):
    keep_freed_memory()
blocks = [torch.ones(1 << 20).sum().item() for _ in range(4)]
assert blocks == [float(1 << 20)] * 4
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert keep_freed_memory() is None
