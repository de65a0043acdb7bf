"""A detector's evaluation is timed both ways, on a very short stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from driftlab.bench import evaluation
from driftlab.bench.evaluation import measure_evaluation
from driftlab.bench.plain import BenchmarkError
from driftlab.models.detectors.stream_loss import Features


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "TRAINING_FRAMES", 16)


def test_both_ways_are_timed_on_every_test_frame() -> None:
    messages: list[str] = []
    threads = torch.get_num_threads()
    times = measure_evaluation(2, messages.append, steps=4)
    assert (times.frames, len(times.fresh), len(times.kept)) == (4, 2, 2)
    assert min(*times.fresh, *times.kept, times.filling) > 0
    # three levels of 64 channels, the finest an eighth of 128 pixels wide, in four bytes
    assert times.bytes == pytest.approx(4 * 32 * (32**2 + 16**2 + 8**2 + 4**2 + 2**2) * 4, rel=0.05)
    assert [line.partition(":")[0] for line in messages[1:]] == ["Round 1 of 2", "Round 2 of 2"]
    assert torch.get_num_threads() == threads


def test_ways_that_do_not_agree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    right = evaluation.FreshFeatures

    def wrong(*arguments: Any) -> Callable[[int], Features]:
        features = right(*arguments)
        return lambda image: tuple(5 * level.flip(-1) for level in features(image))

    monkeypatch.setattr(evaluation, "FreshFeatures", wrong)
    with pytest.raises(BenchmarkError, match="something else in test frame"):
        measure_evaluation(1, lambda _: None, steps=4)
