"""A sweep in a process of its own, to be killed: `python drive.py STORE MARKS JOBS SECONDS TABLE METHOD`."""

from __future__ import annotations

import sys
from pathlib import Path

from driftlab.runs.engines import LocalEngine
from driftlab.runs.store import Store
from driftlab.runs.sweep import sweep
from toy_experiment import DATA, Toy, orders


def main() -> None:
    store, marks, jobs, seconds, table, method = sys.argv[1:]
    runs = orders(4)
    if method:
        runs = [{**run, "method": method} for run in runs]
    result = sweep(
        Toy(marks, seconds=float(seconds), shared_depth=1 if method else 0),
        runs,
        data=DATA,
        digest="d",
        store=Store(store),
        engine=LocalEngine(int(jobs)),
        batch=4,
        progress=False,
    )
    result.table.to_parquet(table)
    Path(table).with_suffix(".txt").write_text(f"{result.computed} {result.reused}")


if __name__ == "__main__":
    main()
