"""Memory of processes that are known to hold it."""

from __future__ import annotations

import os
import subprocess
import sys

from driftlab.bench.memory import PeakMemory

MIB = 2**20
HOLD = """
import subprocess, sys
held = bytearray(b"x" * ({mib} * 2**20))
child = subprocess.Popen([sys.executable, "-c", {code!r}], stdout=subprocess.PIPE) if {code!r} else None
if child: child.stdout.readline()
print("held", flush=True)
sys.stdin.read()
"""


def holding(mib: int, code: str = "") -> str:
    return HOLD.format(mib=mib, code=code)


def test_a_tree_counts_with_its_descendants_and_without_other_trees() -> None:
    command = [sys.executable, "-c", holding(60, holding(90))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with PeakMemory({"two": process.pid, "me": os.getpid()}) as memory:
            pass
        with PeakMemory({"all": os.getpid()}) as all_:
            pass
        process.communicate()
    peaks = memory.peaks
    assert 150 * MIB < peaks["two"] < 250 * MIB
    assert all_.peaks["all"] - peaks["me"] > 140 * MIB, "the tree of this process without the other one"


def test_a_peak_stays_and_a_process_that_has_ended_does_no_harm() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", holding(80)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with PeakMemory({"gone": process.pid}) as memory:
            process.communicate()
    assert memory.peaks["gone"] > 80 * MIB
