"""What every CGL notebook needs: its data, its runs, and the provenance of what it leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from driftlab.data import catalog
from driftlab.data.faults import without_duplicates
from driftlab.data.skeletons import SkeletonSet
from driftlab.errors import ParameterError
from driftlab.methods import method_config
from driftlab.papers.cgl import ContinualSkeletons, run_config, task_data
from driftlab.paths import outputs_dir
from driftlab.reporting.claims import Verdict, VerdictFile, save_verdicts
from driftlab.reporting.figures import save_figure
from driftlab.reporting.records import Artifact, Provenance, provenance
from driftlab.reporting.tables import save_table
from driftlab.runs.engines import make_engine
from driftlab.runs.store import Store
from driftlab.runs.sweep import sweep
from driftlab.scenarios.classes import Order
from driftlab.worlds.ntu_layout import ntu_world
from driftlab.worlds.nucla_layout import nucla_world

WORLDS = {"world": ("nucla", nucla_world), "world-ntu": ("ntu", ntu_world)}
"""The synthetic stand-ins by the name that a notebook's `data` has for them."""

BEST_ON_NTU: dict[str, dict[str, float]] = {"TWP": {"lambda_l": 100.0}, "LwF": {"lambda_dist": 0.1}}
"""Where Table 3's best hyper-parameters on NTU-CIL differ from those on UCLA-CIL, the methods' defaults."""


def load_skeletons(data: str, folder: str = "", sequences: int = 80, seed: int = 0) -> SkeletonSet:
    """A dataset, official or synthetic, by the name that notebooks use.

    Args:
        data: `world` and `world-ntu` are synthetic and made on first use; else a name of the catalog.
        folder: Where an official dataset lies; empty for its usual place.
        sequences: How many sequences a class of a world has.
        seed: A world's seed.

    Raises:
        ParameterError: The name is unknown.
        MissingDataError: The dataset is not there; the text says what to get and where to put it.
    """
    if data in WORLDS:
        if folder:
            raise ParameterError(f"data is {data!r}, which is made, not read: data_folder has no use here.")
        name, make = WORLDS[data]
        return catalog.load(name, make(sequences_per_class=sequences, seed=seed))
    if data not in catalog.DATASETS:
        raise ParameterError(f"data is {data!r}; it can be {', '.join([*WORLDS, *catalog.DATASETS])}.")
    return catalog.load(data, folder or None)


class Study:
    """One notebook's data, store and engine.

    Args:
        notebook: Its name, for provenance.
        scale: `smoke`, `demo` or `paper`, for provenance.
        data: See `load_skeletons`.
        data_folder: See `load_skeletons`.
        world_sequences: See `load_skeletons`.
        world_seed: See `load_skeletons`.
        drop_duplicates: Leave the second sequence of each equal pair out.
        engine: `local` or `ray`.
        jobs: How many batches of runs are worked on at once; 0 for one a core.
        replicas: How many runs are trained side by side in a batch at most.
        changed: Parameters that differ from the scale's own, for provenance.
        methods: The methods that the notebook compares; None where it names them otherwise.
        hyper: Hyper-parameters, by method, that differ from Table 3's best.
        others: The notebook's other parameters, which it uses itself.

    Raises:
        ParameterError: A name or a value is impossible, or `hyper` has a method that is not compared.
    """

    def __init__(
        self,
        notebook: str,
        *,
        scale: str,
        data: str,
        data_folder: str = "",
        world_sequences: int = 80,
        world_seed: int = 0,
        drop_duplicates: bool = False,
        engine: str = "local",
        jobs: int = 0,
        replicas: int = 8,
        changed: Mapping[str, Any] | None = None,
        methods: Sequence[str] | None = None,
        hyper: Mapping[str, Mapping[str, float]] | None = None,
        **others: Any,
    ) -> None:
        self.notebook, self.scale = notebook, scale
        self.engine = make_engine(engine, jobs)
        skeletons = load_skeletons(data, data_folder, world_sequences, world_seed)
        self.skeletons = without_duplicates(skeletons) if drop_duplicates else skeletons
        self.dataset = catalog.dataset(self.skeletons.source.name)
        self.data, self.digest = task_data(self.skeletons, self.dataset.frames, self.dataset.fit)
        self.replicas = replicas
        self.changed = dict(changed or {})
        self.hyper = dict(hyper or {})
        for name in self.hyper:
            self.method(name)
            if methods is not None and name not in [*methods, "JOINT"]:
                raise ParameterError(f"hyper names {name}, which is not in methods: {', '.join(methods)}.")

    @property
    def label(self) -> str:
        """The paper's short name of the dataset, as its tables' columns have it."""
        return {"nucla": "UCLA", "ntu": "NTU"}[self.dataset.name]

    def method(self, name: str, **hyper: float) -> dict[str, Any]:
        """A method with Table 3's best hyper-parameters for the dataset, the study's and these ones changed.

        Raises:
            ParameterError: The method or a hyper-parameter is unknown.
        """
        best = BEST_ON_NTU.get(name, {}) if self.dataset.name == "ntu" else {}
        return method_config(name, **(best | dict(self.hyper.get(name, {})) | hyper))

    def runs(
        self,
        methods: Iterable[str | Mapping[str, Any]],
        orders: Sequence[Order],
        seeds: Sequence[int],
        *,
        variant: str = "",
        **settings: Any,
    ) -> pd.DataFrame:
        """The evaluation table of every method in every order and repetition; the store's results are reused.

        Args:
            methods: Names (with Table 3's hyper-parameters), or configurations from `method`.
            orders: Orders of all classes.
            seeds: Repetitions.
            variant: Tells settings apart in the table's `scenario`.
            settings: For `driftlab.papers.cgl.run_config`.
        """
        chosen = [self.method(m) if isinstance(m, str) else dict(m) for m in methods]
        scenario = f"{self.dataset.name}/{settings.get('backbone', 'gcn')}{variant}"
        return self._sweep(
            [
                run_config(scenario=scenario, method=method, order=order, seed=seed, **settings)
                for method in chosen
                for order in orders
                for seed in seeds
            ]
        )

    def grid(
        self,
        hypers: Sequence[tuple[str, Mapping[str, float]]],
        orders: Sequence[Order],
        seeds: Sequence[int],
        **settings: Any,
    ) -> list[pd.DataFrame]:
        """One evaluation table for each method with its hyper-parameters, all in one sweep.

        Args:
            hypers: Method and hyper-parameters.
            orders: As for `runs`.
            seeds: As for `runs`.
            settings: As for `runs`.
        """
        scenarios = [f"{self.dataset.name}/gcn-{place}" for place in range(len(hypers))]
        table = self._sweep(
            [
                run_config(
                    scenario=scenario, method=self.method(name, **hyper), order=order, seed=seed, **settings
                )
                for scenario, (name, hyper) in zip(scenarios, hypers, strict=True)
                for order in orders
                for seed in seeds
            ]
        )
        return [table[table["scenario"] == scenario] for scenario in scenarios]

    def _sweep(self, configs: Sequence[dict[str, Any]]) -> pd.DataFrame:
        result = sweep(
            ContinualSkeletons(),
            configs,
            data=self.data,
            digest=self.digest,
            store=Store(outputs_dir() / "runs"),
            engine=self.engine,
            batch=self.replicas,
        )
        print(result)
        return result.table

    def made(self, table: pd.DataFrame | None = None) -> Provenance:
        """The provenance of results computed from an evaluation table, or from the data alone."""
        return provenance(
            self.skeletons.source,
            scale=self.scale,
            notebook=self.notebook,
            table=table,
            changed=self.changed,
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
        """`driftlab.reporting.tables.save_table` for the CGL paper, kept apart by dataset."""
        return save_table(
            frame,
            paper="cgl",
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
        """`driftlab.reporting.figures.save_figure` for the CGL paper, kept apart by dataset."""
        return save_figure(
            figure,
            paper="cgl",
            artifact=artifact,
            part=self._part(part),
            made=made,
            title=title,
            caption=caption,
        )

    def verdicts(self, verdicts: Sequence[Verdict], made: Provenance) -> VerdictFile:
        """`driftlab.reporting.claims.save_verdicts` for the CGL paper."""
        return save_verdicts(verdicts, paper="cgl", made=made)

    def _part(self, part: str) -> str:
        return f"{self.dataset.name}-{part}" if part else self.dataset.name
