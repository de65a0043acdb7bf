"""`RowNorm` is `torch.nn.BatchNorm1d`, whichever way it is called."""

from __future__ import annotations

import pytest
import torch
from driftlab.models.graphs.norm import RowNorm
from torch import nn

from .small import drawn, normal


def pair(features: int = 4, dtype: torch.dtype = torch.float64) -> tuple[RowNorm, nn.BatchNorm1d]:
    norm, reference = drawn(RowNorm(features), dtype), nn.BatchNorm1d(features).to(dtype)
    reference.load_state_dict(norm.state_dict())
    return norm, reference


def check_statistics(norm: RowNorm, reference: nn.BatchNorm1d, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(norm.running_mean, reference.running_mean, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(norm.running_var, reference.running_var, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_training_steps_and_then_evaluation(dtype: torch.dtype, tolerance: float) -> None:
    norm, reference = pair(dtype=dtype)
    for step in range(4):
        rows = 3 * normal(6 + step, 4, dtype=dtype, seed=step) + step
        torch.testing.assert_close(norm(rows, "update"), reference(rows), rtol=tolerance, atol=tolerance)
        check_statistics(norm, reference, tolerance)
    reference.eval()
    torch.testing.assert_close(norm(rows, "running"), reference(rows), rtol=tolerance, atol=tolerance)
    check_statistics(norm, reference, tolerance)


@pytest.mark.parametrize("masked", [False, True])
def test_the_batchs_statistics_leave_the_running_ones_alone(masked: bool) -> None:
    norm, reference = pair()
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    rows = normal(7, 4)
    out = norm(rows, "batch", torch.ones(7, dtype=torch.float64) if masked else None)
    torch.testing.assert_close(out, reference(rows))
    assert all(torch.equal(before[name], value) for name, value in norm.state_dict().items())


def test_padding_counts_nowhere() -> None:
    norm, reference = pair()
    mask = torch.tensor([1, 0, 1, 1, 0, 1], dtype=torch.float64)
    for step in range(3):
        rows = normal(6, 4, seed=step)
        rows[mask == 0] = 1e3  # whatever stands there
        rows.requires_grad_()
        true = rows.detach()[mask == 1].requires_grad_()
        out, expected = norm(rows, "update", mask), reference(true)
        torch.testing.assert_close(out[mask == 1], expected)
        check_statistics(norm, reference)
        weights = normal(4, 4, seed=9)
        out[mask == 1].mul(weights).sum().backward()
        expected.mul(weights).sum().backward()
        torch.testing.assert_close(rows.grad[mask == 1], true.grad)
        assert not rows.grad[mask == 0].any()
    for name in ("weight", "bias"):
        torch.testing.assert_close(getattr(norm, name).grad, getattr(reference, name).grad)


def test_gradients_of_gradients() -> None:
    norm, _ = pair(2)
    mask = torch.tensor([1, 1, 0, 1], dtype=torch.float64)
    rows = normal(4, 2).requires_grad_()
    for given in (None, mask):
        assert torch.autograd.gradgradcheck(lambda x, given=given: norm(x, "batch", given), rows)
