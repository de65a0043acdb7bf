"""The peak memory of learning a stream, and of one that is many times as long.

As a program it learns the stream of the length that is its argument.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from driftlab.bench.memory import PeakMemory
from driftlab.bench.plain import BenchmarkError

METHOD = "iCaRL"
"""It remembers the most."""
EVALUATIONS = 10


@dataclass(frozen=True)
class StreamMemory:
    """Peak resident bytes of the process that learns a stream.

    Attributes:
        steps: The length of each stream, the demo's first.
        peaks: Bytes, of each.
    """

    steps: list[int]
    peaks: list[int]

    @property
    def ratio(self) -> float:
        """The longer stream's memory by the shorter one's."""
        return self.peaks[-1] / self.peaks[0]


def measure_stream_memory(say: Callable[[str], None], steps: int = 150, times: int = 10) -> StreamMemory:
    """Learn the demo's stream and a longer one, each in a process of its own.

    Args:
        say: Is told what is being done.
        steps: How long the demo's stream is.
        times: How many times as long the other one is.

    Raises:
        BenchmarkError: A process has failed.
    """
    from driftlab.worlds.oak_layout import oak_world

    lengths, peaks = [steps, steps * times], []
    for length in lengths:
        say(f"Learning a stream of {length} steps with {METHOD}")
        oak_world(steps=length)
        command = [sys.executable, "-P", "-W", "ignore", "-m", "driftlab.bench.stream_memory", str(length)]
        with subprocess.Popen(command, start_new_session=True) as process:
            try:
                with PeakMemory({"stream": process.pid}) as memory:
                    code = process.wait()
            finally:
                process.kill()
        if code:
            raise BenchmarkError(
                f"The process that learns a stream ended by itself (exit code {code}). Its own message "
                "stands above; without one, it was probably killed because memory ran out."
            )
        peaks.append(memory.peaks["stream"])
        say(f"Peak memory: {peaks[-1] / 2**20:,.0f} MiB")
    return StreamMemory(lengths, peaks)


def learn(steps: int) -> None:
    """Learn the world's stream as a run does, one iteration a step, evaluated ten times on the way."""
    import torch

    from driftlab.models.detectors.build import build_detector
    from driftlab.papers.oak import OnlineDetection, run_config
    from driftlab.papers.oak_stage import OakData
    from driftlab.papers.stream_study import load_stream
    from driftlab.runs.experiment import State

    torch.set_num_threads(1)
    stream = load_stream("world", steps=steps)
    weights = build_detector("small", len(stream.categories), 0, torch.device("cpu")).state_dict()
    config = run_config(
        detector="small",
        method=METHOD,
        vocabulary="known",
        steps=steps,
        iterations=1,
        interval=-(-steps // EVALUATIONS),
        stretch=2 * -(-steps // EVALUATIONS),
    )
    experiment, state = OnlineDetection("cpu"), None
    with TemporaryDirectory(prefix="driftlab-bench-") as folder:
        data = OakData(stream, weights, tuple(range(8)), Path(folder, "features"))
        for stage in experiment.chain(config):
            states: list[State | None] = [state]
            state = experiment.execute(data, [stage], states)[0].state


if __name__ == "__main__":
    learn(int(sys.argv[1]))
