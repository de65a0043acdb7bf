"""The memory of learning a stream is watched in processes of their own, here on very short streams."""

from __future__ import annotations

import pytest
from driftlab.bench import stream_memory
from driftlab.bench.plain import BenchmarkError
from driftlab.bench.stream_memory import measure_stream_memory
from driftlab.worlds.walk import layout as oak_layout


def test_two_lengths_are_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    said: list[str] = []
    found = measure_stream_memory(said.append, steps=4, times=2)
    assert found.steps == [4, 8]
    assert min(found.peaks) > 100 * 2**20
    assert found.ratio == found.peaks[1] / found.peaks[0]
    assert said[0] == "Learning a stream of 4 steps with iCaRL"


def test_a_process_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oak_layout, "oak_world", lambda steps: None)
    monkeypatch.setattr(stream_memory.sys, "executable", "/bin/false")
    with pytest.raises(BenchmarkError, match=r"ended by itself \(exit code 1\)"):
        measure_stream_memory(lambda _: None, steps=4)
