"""Peak memory of learning a stream, and of learning one that is many times as long.

Run as a program, this module learns a stream of the given number of steps and prints its own peak memory.
Measured from outside, a child process that is just being forked would count its parent's memory again.
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
"""The method with the largest memory of past frames."""
EVALUATIONS = 10
"""Number of evaluations during a stream."""


@dataclass(frozen=True)
class StreamMemory:
    """Peak resident bytes of the process that learns a stream.

    Attributes:
        steps: Number of steps of each stream, the demo's first.
        peaks: Peak memory for each stream, in bytes.
    """

    steps: list[int]
    peaks: list[int]

    @property
    def ratio(self) -> float:
        """Peak memory of the longer stream divided by that of the shorter one."""
        return self.peaks[-1] / self.peaks[0]


def measure_stream_memory(
    report_progress: Callable[[str], None], steps: int = 150, times: int = 10
) -> StreamMemory:
    """Learn the demo's stream and a longer one in separate processes, and measure their peak memory.

    Args:
        report_progress: Called with a line of text for each stage of the measurement.
        steps: Number of steps of the demo's stream.
        times: Factor by which the other stream is longer.

    Raises:
        BenchmarkError: A process has failed.
    """
    from driftlab.worlds.walk.layout import oak_world

    lengths, peaks = [steps, steps * times], []
    for length in lengths:
        report_progress(f"Learning a stream of {length} steps with {METHOD}")
        oak_world(steps=length)
        command = [sys.executable, "-P", "-W", "ignore", "-m", "driftlab.bench.stream_memory", str(length)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
            try:
                output, _ = process.communicate()
            finally:
                process.kill()
        if process.returncode:
            raise BenchmarkError(
                f"The process that learns a stream ended by itself (exit code {process.returncode}). Its own "
                "message stands above; without one, it was probably killed because memory ran out."
            )
        peaks.append(int(output.split()[-1]))
        report_progress(f"Peak memory: {peaks[-1] / 2**20:,.0f} MiB")
    return StreamMemory(lengths, peaks)


def learn(steps: int) -> None:
    """Learn the synthetic stream as a run does, with one iteration per step and ten evaluations."""
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
    """Peak resident memory of this process, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text("utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    learn(int(sys.argv[1]))
    print(_peak())
