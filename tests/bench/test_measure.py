"""The arithmetic between what was timed and what is printed, and the printing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from driftlab.bench import workload
from driftlab.bench.evaluation import EvaluationTimes
from driftlab.bench.machine import Machine, this_machine
from driftlab.bench.measure import Measurement, Settings, Sweep
from driftlab.bench.product_rate import product_operations
from driftlab.bench.show import save, tables
from driftlab.bench.stream_memory import StreamMemory
from driftlab.core.errors import StoreError
from rich.console import Console

MACHINE = Machine("A Processor", 2, 24 * 2**30, "Linux x86_64", "3.11.7", {"torch": "2.14.1"}, 0.01)
MEASUREMENT = Measurement(
    machine=MACHINE,
    settings=Settings(rounds=3, epochs=10, replicas=8, jobs=2, full=False, methods=True, evaluation=True),
    plain_threads=2,
    plain=[0.030, 0.020, 0.040],
    replicated=[[0.005] * 5, [0.002] * 5, [0.001, 0.002, 0.003, 0.004, 0.010]],
    product_rates=[100e9, 200e9, 150e9],
    methods={"EWC": [0.004] * 4 + [0.014]},
    sweep=Sweep([5, 20, 60, 120, 120], 1, 10.0),
    peak_memory={"plain": 700 * 2**20, "replicated": 2000 * 2**20},
    evaluation=EvaluationTimes("small", 150, 0.9, 300 * 2**20, [3.0, 1.0, 2.0], [1.0, 0.5, 0.5]),
    stream_memory=StreamMemory([150, 1500], [1000 * 2**20, 1050 * 2**20]),
)


def printed(measurement: Measurement) -> str:
    console = Console(width=160, color_system=None)
    with console.capture() as capture:
        console.print(tables(measurement))
    return " ".join(capture.get().split())


def test_ratios_are_of_the_same_round() -> None:
    assert MEASUREMENT.replicated_rounds == pytest.approx([0.005, 0.002, 0.004])
    assert MEASUREMENT.ratios == pytest.approx([6, 10, 10])


def test_the_share_is_of_the_same_rounds_product_rate() -> None:
    graphs = [len(workload.training_records(task)) for task in workload.TASKS]
    needed = sum(product_operations(count) for count in graphs) / len(graphs)
    expected = [needed / 0.005 / 100e9, needed / 0.002 / 200e9, needed / 0.004 / 150e9]
    assert MEASUREMENT.product_shares == pytest.approx(expected)


def test_the_operations_of_an_epochs_products() -> None:
    rows, width, features = 10 * 20, 64, 156
    first = 2 * 2 * 2 * rows * features * width  # two branches, forward and weights
    second = 2 * 3 * 2 * rows * width * width  # and the gradient that is handed down
    head = 3 * 2 * 10 * (2 * width * width + width * 10)
    assert product_operations(10) == first + second + head


def test_what_twp_costs() -> None:
    assert MEASUREMENT.twp_over_bare is None and "TWP costs" not in printed(MEASUREMENT)
    timed = replace(MEASUREMENT, methods={"TWP": [0.01] * 5})
    assert timed.twp_over_bare == pytest.approx(2.5)
    assert "TWP costs 2.5 times BARE." in printed(timed)


def test_the_plain_sweep_is_all_its_epochs() -> None:
    assert MEASUREMENT.plain_sweep == pytest.approx(0.030 * 120 * 5 * 100)


def test_the_replicated_sweep_is_what_was_run_and_the_missing_epochs_of_each_depth() -> None:
    assert MEASUREMENT.replicated_tasks == pytest.approx([0.002, 0.002, 0.003, 0.004, 0.005])
    missing = 99 * (5 * 0.002 + 20 * 0.002 + 60 * 0.003 + 120 * 0.004 + 120 * 0.005)
    assert MEASUREMENT.replicated_sweep == pytest.approx(10 + missing)


def test_a_sweep_that_was_run_is_not_extrapolated() -> None:
    full = replace(MEASUREMENT, sweep=Sweep([5, 20, 60, 120, 120], 100, 150.0))
    assert full.replicated_sweep == 150.0


def test_the_table_says_what_was_found_and_how() -> None:
    text = printed(MEASUREMENT)
    assert "ms per replica-epoch 30.00 (20.00–40.00) 4.00 (2.00–5.00) 10.00 (6.00–10.00)×" in text
    assert "sweep of 120 task orders 30 min 00 s, extrapolated 2 min 20 s, extrapolated 12.9×" in text
    share = round(100 * sorted(MEASUREMENT.product_shares)[1])
    assert f"share of the machine's product rate {share}% of 150 GFLOP/s" in text
    assert "task-trainings in it 600 325" in text
    assert "computes with 1 process × 2 threads 2 workers × 1 thread" in text
    assert "peak memory, MiB 700 2,000" in text
    assert "extrapolated from 150 epochs to 120 × 5 × 100" in text
    assert "Median of 3 alternating rounds" in text
    assert "A Processor, 2 cores, 24 GiB" in text
    assert "EWC 6.00 4.00 … 14.00 1.5" in text
    assert "seconds for 150 test frames 2.00 (1.00–3.00) 0.50 (0.50–1.00) 3.00 (2.00–4.00)×" in text
    assert "Learning a stream 150 steps 1,500 steps ratio peak memory, MiB 1,000 1,050 1.05×" in text
    assert "in 0.90 s, and take 300 MiB on disk" in text
    assert "not quiet" not in text


def test_the_table_of_a_full_run_on_a_busy_machine() -> None:
    text = printed(
        replace(
            MEASUREMENT,
            machine=replace(MACHINE, busy=0.5),
            settings=replace(MEASUREMENT.settings, full=True),
            sweep=Sweep([5, 20, 60, 120, 120], 100, 150.0),
            methods={},
            evaluation=None,
            stream_memory=None,
        )
    )
    assert "30 min 00 s, extrapolated 2 min 30 s 12.0×" in text
    assert "Its sweep was run completely." in text
    assert "others kept 50% of its cores busy" in text
    assert "by method" not in text and "Evaluation of a detector" not in text
    assert "Learning a stream" not in text


def test_the_numbers_are_kept() -> None:
    file = save(MEASUREMENT, datetime(2026, 3, 4, 5, 6, 7))
    assert file.name == "2026-03-04_050607.json"
    kept = json.loads(file.read_text())
    assert kept["plain"] == MEASUREMENT.plain
    assert kept["settings"]["replicas"] == 8
    assert kept["machine"]["packages"] == {"torch": "2.14.1"}
    assert kept["evaluation"]["kept"] == [1.0, 0.5, 0.5]
    assert kept["summary"]["evaluation_ratio"] == pytest.approx(3)
    assert kept["summary"]["stream_memory_ratio"] == pytest.approx(1.05)
    assert kept["summary"]["epoch_ratio"] == pytest.approx(10)
    assert kept["summary"]["product_share"] == pytest.approx(sorted(MEASUREMENT.product_shares)[1])
    assert (
        kept["summary"]["products_gflops"] == pytest.approx(150) and kept["summary"]["twp_over_bare"] is None
    )
    assert kept["summary"]["sweep_ratio"] == pytest.approx(1800 / MEASUREMENT.replicated_sweep)


def test_an_outputs_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outputs").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written to"):
        save(MEASUREMENT, datetime(2026, 3, 4))


def test_this_machine_names_itself() -> None:
    machine = this_machine()
    assert machine.cpu and machine.cores >= 1 and machine.memory > 2**20
    assert {"driftlab", "torch", "torch-geometric", "numpy"} == set(machine.packages)
    assert 0 <= machine.busy <= 1
