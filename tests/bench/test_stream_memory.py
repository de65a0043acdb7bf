"""The memory of learning a stream is watched in processes of their own, here on very short streams."""

from __future__ import annotations

import pytest
from driftlab.bench import stream_memory
from driftlab.bench.plain import BenchmarkError
from driftlab.bench.stream_memory import measure_stream_memory
from driftlab.worlds.walk import layout as oak_layout


def test_two_lengths_are_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    messages: list[str] = []
    memory = measure_stream_memory(messages.append, steps=4, times=2)
    assert memory.steps == [4, 8]
    assert min(memory.peaks) > 100 * 2**20
    assert memory.ratio == memory.peaks[1] / memory.peaks[0]
    assert messages[0] == "Learning a stream of 4 steps with iCaRL"


def test_a_process_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oak_layout, "oak_world", lambda steps: None)
    monkeypatch.setattr(stream_memory.sys, "executable", "/bin/false")
    with pytest.raises(BenchmarkError, match=r"ended by itself \(exit code 1\)"):
        measure_stream_memory(lambda _: None, steps=4)
