"""Several processes train one detector: they share every batch, and end with the same weights."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.data.detection.records import FrameStream
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection import runner
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation, share
from driftlab.worlds.walk.layout import oak_world

SCRIPT = Path(__file__).with_name("one_of_two.py")


@pytest.mark.parametrize(
    ("count", "parts"),
    [(5, [[0, 2, 4], [1, 3]]), (2, [[0], [1]]), (1, [[0], [0]])],
)
def test_a_batch_is_shared_and_nobody_goes_without(
    count: int, parts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "get_world_size", lambda: 2)
    for rank, part in enumerate(parts):
        monkeypatch.setattr(runner, "get_rank", lambda rank=rank: rank)
        assert share(np.arange(count)).tolist() == part


def test_one_process_has_all() -> None:
    assert share(np.arange(3)).tolist() == [0, 1, 2]


def test_two_processes_learn_the_same_from_different_frames(tmp_path: Path) -> None:
    world = oak_world(tmp_path / "oak", steps=2, frames_per_step=3, pixels=64)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = os.environ | {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(SCRIPT), str(world), str(tmp_path)],
            env=common | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [process.communicate(timeout=240)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], "\n".join(said)
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert torch.equal(first["weights"], second["weights"]) and first["weights"].isfinite().all()
    assert first["changed"] == second["changed"] > 0
    # five frames in batches of two: the last batch's one frame is seen by both
    assert len(first["pretrained"]) == len(second["pretrained"]) == 3
    assert len(set(first["pretrained"] + second["pretrained"])) == 5
    # each step's three frames and an exemplar of each class
    assert not set(first["online"][:2]) & set(second["online"][:1])


def test_mixed_precision_needs_a_gpu(detector: Callable[[], StreamFasterRCNN], stream: FrameStream) -> None:
    half = Optimisation(mixed_precision=True)
    with pytest.raises(ParameterError, match="mixed_precision needs a CUDA device, and this detector"):
        train_detector(
            detector(), Frames(stream.train, (64, 64)), np.arange(2), half, epochs=1, batch=2, seed=0
        )
