"""What every notebook needs: its runs, and the provenance of what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from driftlab.core.paths import outputs_dir
from driftlab.core.provenance import Source
from driftlab.reporting.figures import save_figure
from driftlab.reporting.sidecars import Artifact, Provenance, provenance
from driftlab.reporting.tables import save_table
from driftlab.reporting.verdicts import Verdict, VerdictFile, save_verdicts
from driftlab.runs.engines import make_engine
from driftlab.runs.experiment import Config, Experiment
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult, sweep


class Study:
    """One notebook's source of data, store and engine.

    Args:
        paper: Whose tables and figures these are: `cgl`, `oak` …
        notebook: Its name, for provenance.
        scale: `smoke`, `demo` or `paper`, for provenance.
        source: Where its data are from.
        engine: `local` or `ray`.
        jobs: How many batches of runs are worked on at once; 0 for one a core.
        replicas: How many runs are trained side by side in a batch at most.
        changed: Parameters that differ from the scale's own, for provenance.

    Raises:
        ParameterError: There is no such engine.
    """

    def __init__(
        self,
        paper: str,
        notebook: str,
        scale: str,
        source: Source,
        engine: str,
        jobs: int,
        replicas: int = 1,
        changed: Mapping[str, Any] | None = None,
    ) -> None:
        self.paper, self.notebook, self.scale, self.source = paper, notebook, scale, source
        self.engine, self.replicas, self.changed = make_engine(engine, jobs), replicas, dict(changed or {})

    @property
    def store(self) -> Store:
        """Where finished runs are kept."""
        return Store(outputs_dir() / "runs")

    def sweep(
        self, experiment: Experiment, configs: Sequence[Config], data: Any, digest: str, **options: Any
    ) -> SweepResult:
        """`driftlab.runs.sweep.sweep` with the study's store and engine; says what was computed."""
        result = sweep(
            experiment,
            configs,
            data=data,
            digest=digest,
            store=self.store,
            engine=self.engine,
            batch=self.replicas,
            **options,
        )
        print(result)
        return result

    def made(self, table: pd.DataFrame | None = None) -> Provenance:
        """The provenance of results computed from an evaluation table, or from the data alone."""
        return provenance(
            self.source, scale=self.scale, notebook=self.notebook, table=table, changed=self.changed
        )

    def table(
        self,
        artifact: str,
        frame: pd.DataFrame,
        made: Provenance,
        title: str,
        caption: str,
        *,
        part: str = "",
        **options: Any,
    ) -> Artifact:
        """`driftlab.reporting.tables.save_table`, kept apart by dataset."""
        return save_table(
            frame,
            paper=self.paper,
            artifact=artifact,
            part=self._part(part),
            made=made,
            title=title,
            caption=caption,
            **options,
        )

    def figure(
        self, artifact: str, figure: Figure, made: Provenance, title: str, caption: str, *, part: str = ""
    ) -> Artifact:
        """`driftlab.reporting.figures.save_figure`, kept apart by dataset."""
        return save_figure(
            figure,
            paper=self.paper,
            artifact=artifact,
            part=self._part(part),
            made=made,
            title=title,
            caption=caption,
        )

    def verdicts(self, verdicts: Sequence[Verdict], made: Provenance) -> VerdictFile:
        """`driftlab.reporting.verdicts.save_verdicts`."""
        return save_verdicts(verdicts, paper=self.paper, made=made)

    def _part(self, part: str) -> str:
        return f"{self.source.name}-{part}" if part else self.source.name
