"""The peak memory of learning a stream, and of one that is many times as long.

As a program it learns the stream of the length that is its argument, and prints its own peak: seen from
outside, a child that is just being started counts as much as its parent once more.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

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
    from driftlab.worlds.walk.layout import oak_world

    lengths, peaks = [steps, steps * times], []
    for length in lengths:
        say(f"Learning a stream of {length} steps with {METHOD}")
        oak_world(steps=length)
        command = [sys.executable, "-P", "-W", "ignore", "-m", "driftlab.bench.stream_memory", str(length)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
            try:
                said, _ = process.communicate()
            finally:
                process.kill()
        if process.returncode:
            raise BenchmarkError(
                f"The process that learns a stream ended by itself (exit code {process.returncode}). Its own "
                "message stands above; without one, it was probably killed because memory ran out."
            )
        peaks.append(int(said.split()[-1]))
        say(f"Peak memory: {peaks[-1] / 2**20:,.0f} MiB")
    return StreamMemory(lengths, peaks)


def learn(steps: int) -> None:
    """Learn the world's stream as a run does, one iteration a step, evaluated ten times on the way."""
    import torch

    from driftlab.models.detectors.build import build_detector
    from driftlab.papers.oak.experiment import OnlineDetection, run_config
    from driftlab.papers.oak.session import load_stream
    from driftlab.papers.oak.stage import OakData
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
        offline_interval=-(-steps // EVALUATIONS),
        stretch=2 * -(-steps // EVALUATIONS),
    )
    experiment, state = OnlineDetection("cpu"), None
    with TemporaryDirectory(prefix="driftlab-bench-") as folder:
        data = OakData(stream, weights, tuple(range(8)), Path(folder, "features"))
        for stage in experiment.chain(config):
            states: list[State | None] = [state]
            state = experiment.execute(data, [stage], states)[0].state


def _peak() -> int:
    """Bytes that this process has had in memory at most."""
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text("utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


if __name__ == "__main__":
    learn(int(sys.argv[1]))
    print(_peak())
