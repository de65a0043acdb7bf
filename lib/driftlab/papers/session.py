"""A notebook's session: runs its sweeps, and saves its tables, figures and verdicts with their provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from driftlab.core.lineage import lineage
from driftlab.core.paths import outputs_dir
from driftlab.core.provenance import Source
from driftlab.reporting.display import ShownArtifact, ShownVerdicts
from driftlab.reporting.figures import save_figure
from driftlab.reporting.sidecars import Provenance, provenance_of
from driftlab.reporting.tables import save_table
from driftlab.reporting.verdicts import Verdict, save_verdicts
from driftlab.runs.engines import make_engine
from driftlab.runs.experiment import Config, Experiment
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult, sweep


class Session:
    """Data source, store and engine of one notebook.

    Args:
        paper: Key of the paper whose tables and figures are saved: `cgl`, `oak` …
        notebook: The notebook's name, for provenance.
        scale: `smoke`, `demo` or `paper`, for provenance.
        source: Origin of the data.
        engine: `local` or `ray`.
        jobs: Number of batches of runs that are executed at the same time; 0 for one per core.
        replicas: Largest number of runs that are trained side by side in one batch.
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
        self._judged: dict[str, Verdict] = {}
        self.engine, self.replicas, self.changed = make_engine(engine, jobs), replicas, dict(changed or {})

    @property
    def store(self) -> Store:
        """The store of finished runs."""
        return Store(outputs_dir() / "runs")

    def sweep(
        self,
        experiment: Experiment,
        configs: Sequence[Config],
        data: Any,
        digest: str,
        *,
        replicas: int | None = None,
        **options: Any,
    ) -> SweepResult:
        """Run a sweep with the session's store and engine, and print what was computed.

        Args:
            experiment: As for `driftlab.runs.sweep.sweep`, like configs, data and digest.
            configs: See there.
            data: See there.
            digest: See there.
            replicas: Largest number of runs in one batch of this sweep, if not the session's.
            options: For `driftlab.runs.sweep.sweep`.
        """
        result = sweep(
            experiment,
            configs,
            data=data,
            digest=digest,
            store=self.store,
            engine=self.engine,
            batch=self.replicas if replicas is None else replicas,
            **options,
        )
        print(result)
        return result

    def table(
        self, artifact: str, frame: pd.DataFrame, title: str, caption: str, *, part: str = "", **options: Any
    ) -> ShownArtifact:
        """Save a table with the provenance that the frame carries; options as for `save_table`."""
        saved = save_table(
            frame,
            paper=self.paper,
            artifact=artifact,
            part=self._part(part),
            provenance=self.provenance(frame),
            title=title,
            caption=caption,
            **options,
        )
        return ShownArtifact(saved, outputs_dir())

    def figure(
        self, artifact: str, figure: Figure, title: str, caption: str, *, part: str = ""
    ) -> ShownArtifact:
        """Save a figure with the provenance that it carries, see `save_figure`."""
        saved = save_figure(
            figure,
            paper=self.paper,
            artifact=artifact,
            part=self._part(part),
            provenance=self.provenance(figure),
            title=title,
            caption=caption,
        )
        return ShownArtifact(saved, outputs_dir())

    def verdicts(self, *verdicts: Verdict) -> ShownVerdicts:
        """Save verdicts for the scoreboard; earlier ones of the same claims in this session are replaced."""
        self._judged |= {verdict.claim: verdict for verdict in verdicts}
        everything = list(self._judged.values())
        save_verdicts(everything, paper=self.paper, provenance=self.provenance(*everything))
        return ShownVerdicts(list(verdicts), self.provenance(*verdicts))

    def provenance(self, *results: object) -> Provenance:
        """The provenance of results: the session's data, scale and notebook, and the results' runs."""
        return provenance_of(
            self.source,
            scale=self.scale,
            notebook=self.notebook,
            runs=lineage(*results),
            changed=self.changed,
        )

    def _part(self, part: str) -> str:
        return f"{self.source.name}-{part}" if part else self.source.name
