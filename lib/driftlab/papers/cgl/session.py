"""What every CGL notebook needs: its data and its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from driftlab.data import catalog
from driftlab.data.skeletons.faults import without_duplicates
from driftlab.data.skeletons.records import SkeletonSet
from driftlab.methods import method_config
from driftlab.models.graphs import make_backbone
from driftlab.models.graphs.backbone import Backbone
from driftlab.papers.cgl.batch_size import replicas_in
from driftlab.papers.cgl.experiment import ContinualSkeletons, run_config, task_data
from driftlab.papers.cgl.order_runs import OrderRuns, order_runs
from driftlab.papers.session import Session
from driftlab.reporting.printed_papers import printed_rows
from driftlab.runs.capacity import available_memory
from driftlab.scenarios.classes import Order, split_by_class


def load_skeletons(data: str, folder: str = "", sequences: int = 80, seed: int = 0) -> SkeletonSet:
    """A dataset, official or synthetic, by the name that notebooks use.

    Args:
        data: A dataset of skeletons in `driftlab.data.catalog`, or its synthetic world, made on first use.
        folder: Where an official dataset lies; empty for its usual place.
        sequences: Sequences per class of a world.
        seed: A world's seed.

    Raises:
        ParameterError: The name is unknown.
        MissingDataError: The dataset is not there; the text says what to get and where to put it.
    """
    sizes = {"sequences_per_class": sequences, "seed": seed}
    skeletons = catalog.load_by_data_name(data, "skeletons", folder, **sizes)
    assert isinstance(skeletons, SkeletonSet)
    return skeletons


def best_hyper(method: str, label: str) -> dict[str, float]:
    """A method's best hyper-parameters on a dataset, as Table 3 prints them.

    Args:
        method: Its name.
        label: The dataset's, `UCLA` or `NTU`.

    Returns:
        By name; empty for a method or a dataset that the table does not have, so that the method's defaults
        hold.
    """
    return dict(printed_rows("cgl", "table_3").get(method, {}).get(label, {}))


class CglSession(Session):
    """A session of skeletons.

    Args:
        notebook: Its name, for provenance.
        scale: `smoke`, `demo` or `paper`, for provenance.
        data: See `load_skeletons`.
        data_folder: See `load_skeletons`.
        world_sequences: See `load_skeletons`.
        world_seed: See `load_skeletons`.
        drop_duplicates: Leave the second sequence of each equal pair out.
        split_seed: See `driftlab.scenarios.classes.split_by_class`.
        frames: Frames that each sequence is resampled to; None prepares the sequences as the paper does.
        engine: `local` or `ray`.
        jobs: How many batches of runs are worked on at once; 0 for one per core.
        replicas: How many runs are trained side by side in a batch at most; fewer where memory is short.
        changed: Parameters that differ from the scale's own, for provenance.
        hyper: Hyper-parameters, by method, that differ from Table 3's best.
        others: The notebook's other parameters, which it uses itself.

    Raises:
        ParameterError: A name or a value is impossible.
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
        split_seed: int | None = None,
        frames: int | None = None,
        engine: str = "local",
        jobs: int = 0,
        replicas: int = 8,
        changed: Mapping[str, Any] | None = None,
        hyper: Mapping[str, Mapping[str, float]] | None = None,
        **others: Any,
    ) -> None:
        skeletons = load_skeletons(data, data_folder, world_sequences, world_seed)
        self.skeletons = without_duplicates(skeletons) if drop_duplicates else skeletons
        super().__init__("cgl", notebook, scale, self.skeletons.source, engine, jobs, replicas, changed)
        self.dataset = catalog.dataset(self.skeletons.source.name)
        preparation = self.dataset.preparation
        assert preparation, "every dataset of skeletons has one"
        if frames is not None:
            preparation = catalog.Preparation(frames, "resample")
        self.data, self.digest = task_data(self.skeletons, preparation.frames, preparation.fit)
        self.split_seed = split_seed
        self.split = split_by_class(self.skeletons.labels, seed=split_seed)
        self.hyper = dict(hyper or {})
        for name in self.hyper:
            self.method(name)

    @property
    def label(self) -> str:
        """The paper's short name of the dataset, as its tables' columns have it."""
        return str(self.dataset.label)

    @property
    def panel(self) -> str:
        """The panel of the paper's figures that shows the dataset: a for UCLA, b for NTU."""
        return {"UCLA": "a", "NTU": "b"}[self.label]

    def network(self, *, seed: int = 0, **settings: Any) -> Backbone:
        """A freshly initialised network, as a run of that seed starts with.

        Args:
            seed: Of the initialisation.
            settings: `backbone`, `width`, `depth` and `hidden`, as for `run_config`.
        """
        config = run_config(variant="", method=self.method("BARE"), order=(0,), seed=seed, **settings)
        shape, classes = self.data.coordinates.shape[1:], self.data.classes
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return make_backbone(config["backbone"], shape, self.data.bones, classes)()

    def order_runs(self, table: pd.DataFrame) -> OrderRuns:
        """The runs of an evaluation table as arrays, with the size of the smallest test class."""
        tested = np.bincount(self.skeletons.labels[self.split.test])
        return order_runs(table, test_sequences=int(tested.min()))

    def method(self, name: str, **hyper: float) -> dict[str, Any]:
        """A method with Table 3's hyper-parameters for the dataset, the session's and these ones changed.

        Raises:
            ParameterError: The method or a hyper-parameter is unknown.
        """
        return method_config(name, **(best_hyper(name, self.label) | dict(self.hyper.get(name, {})) | hyper))

    def runs(
        self,
        methods: Iterable[str | Mapping[str, Any]],
        orders: Sequence[Order],
        seeds: Sequence[int],
        *,
        setting: str = "",
        **settings: Any,
    ) -> pd.DataFrame:
        """The evaluation table of every method in every order and repetition; the store's results are reused.

        Args:
            methods: Names (with Table 3's hyper-parameters), or configurations from `method`.
            orders: Orders of all classes.
            seeds: Repetitions.
            setting: Tells settings apart in the table's column `variant`, for example "-width-32".
            settings: For `driftlab.papers.cgl.experiment.run_config`.
        """
        chosen = [self.method(m) if isinstance(m, str) else dict(m) for m in methods]
        variant = f"{self.dataset.name}/{settings.get('backbone', 'gcn')}{setting}"
        settings.setdefault("split_seed", self.split_seed)
        return self._sweep(
            [
                run_config(variant=variant, method=method, order=order, seed=seed, **settings)
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
        settings.setdefault("split_seed", self.split_seed)
        variants = [f"{self.dataset.name}/gcn-{place}" for place in range(len(hypers))]
        table = self._sweep(
            [
                run_config(
                    variant=variant, method=self.method(name, **hyper), order=order, seed=seed, **settings
                )
                for variant, (name, hyper) in zip(variants, hypers, strict=True)
                for order in orders
                for seed in seeds
            ]
        )
        return [table[table["variant"] == variant] for variant in variants]

    def _sweep(self, configs: Sequence[dict[str, Any]]) -> pd.DataFrame:
        experiment, replicas = ContinualSkeletons(), self.replicas
        if experiment.device == "cpu":
            fitting = replicas_in(available_memory(), self.engine.capacity, self.data, configs)
            replicas = min(replicas, fitting)
        return self.sweep(experiment, configs, self.data, self.digest, replicas=replicas).table
