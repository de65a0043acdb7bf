"""Products against their definition."""

from __future__ import annotations

import pytest
import torch
from driftlab.models.graphs.kernels import Linear, product
from torch import nn
from torch.func import vmap

from ..small import drawn, normal


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_a_product(dtype: torch.dtype, tolerance: float) -> None:
    x, weight, bias = (normal(*shape, dtype=dtype) for shape in ((7, 3), (5, 3), (5,)))
    expected = torch.einsum("ri,oi->ro", x, weight)
    options = {"rtol": tolerance, "atol": tolerance}
    torch.testing.assert_close(product(x, weight), expected, **options)
    torch.testing.assert_close(product(x, weight, bias), expected + bias, **options)
    torch.testing.assert_close(product(x, weight, bias, relu=True), (expected + bias).clamp(min=0), **options)
    assert (product(x, weight, bias, relu=True) == 0).any()
    # As the gradients use it: transposed views.
    torch.testing.assert_close(product(expected.T, x.T), expected.T @ x, **options)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_linear_is_torchs(dtype: torch.dtype) -> None:
    linear, reference = drawn(Linear(3, 5), dtype), nn.Linear(3, 5).to(dtype)
    reference.load_state_dict(linear.state_dict())
    x = normal(2, 4, 3, dtype=dtype)
    grad = normal(2, 4, 5, dtype=dtype, seed=3)
    results = []
    for layer in (linear, reference):
        given = x.clone().requires_grad_()
        out = layer(given)
        out.mul(grad).sum().backward()
        results.append((out.detach(), given.grad, layer.weight.grad, layer.bias.grad))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


def test_linear_is_differentiable_twice() -> None:
    layer = drawn(Linear(2, 3))
    x = normal(4, 2).requires_grad_()

    def apply(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = torch.func.functional_call(layer, {"weight": weight, "bias": bias}, x)
        return out.pow(3)

    arguments = (x, layer.weight, layer.bias)
    assert torch.autograd.gradcheck(apply, arguments)
    assert torch.autograd.gradgradcheck(apply, arguments)


@pytest.mark.parametrize("dims", [(0, 0), (None, 0), (0, None), (1, 0)])
def test_linear_maps_over_replicas(dims: tuple[int | None, int | None]) -> None:
    layer = Linear(3, 5).double()
    weight = normal(2, 5, 3) if dims[1] is not None else normal(5, 3)
    x = normal(4, 3) if dims[0] is None else normal(2, 4, 3)
    each = [x] * 2 if dims[0] is None else list(x)
    given = x.transpose(0, 1) if dims[0] == 1 else x
    bias = normal(5)

    def apply(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = torch.func.functional_call(layer, {"weight": w, "bias": bias}, x)
        return out

    results = vmap(apply, in_dims=dims)(given, weight)
    for r in range(2):
        replica_weight = weight[r] if dims[1] is not None else weight
        torch.testing.assert_close(results[r], torch.einsum("ri,oi->ro", each[r], replica_weight) + bias)
