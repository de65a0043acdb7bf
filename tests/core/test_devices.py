from __future__ import annotations

import pytest
import torch
from driftlab.core.devices import cuda_devices, device_kind
from driftlab.core.errors import ParameterError


@pytest.mark.parametrize("there", [False, True])
def test_the_kind_is_what_pytorch_finds(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.delenv("DRIFTLAB_DEVICE", raising=False)
    assert device_kind() == ("cuda" if there else "cpu")
    monkeypatch.setenv("DRIFTLAB_DEVICE", "auto")
    assert device_kind() == ("cuda" if there else "cpu")
    for name in ("cpu", "cuda"):
        monkeypatch.setenv("DRIFTLAB_DEVICE", name)
        assert device_kind() == name


def test_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLAB_DEVICE", "cuda:1")
    with pytest.raises(
        ParameterError, match=r"DRIFTLAB_DEVICE is 'cuda:1'; .*auto, cpu or cuda.*CUDA_VISIBLE"
    ):
        device_kind()


def test_devices_keep_the_names_that_the_environment_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert cuda_devices() == ("0", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "6, 2")
    assert cuda_devices() == ("6", "2")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert cuda_devices() == ()
