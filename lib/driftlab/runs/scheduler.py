"""Scheduler of a sweep: hands stages to workers, and keeps their results in the store."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from driftlab.core.errors import ParameterError
from driftlab.core.progress import Progress
from driftlab.runs.engines import Engine
from driftlab.runs.experiment import Experiment, StageResult, State
from driftlab.runs.failures import StageError, SweepError, SweepWarning
from driftlab.runs.locks import Presence, StageLocks
from driftlab.runs.stage_graph import StageGraph
from driftlab.runs.states import StateMarks
from driftlab.runs.store import Store, as_kept

POLL_SECONDS = 0.25
LOSSES = 3
"""How many batches in a row may lose their worker before the sweep stops."""


class Scheduler:
    """Executes the stages of a graph, predecessors first.

    Workers get everything with a batch and return everything with its results, so they need no access to the
    store.

    Args:
        experiment: Executes the stages.
        data: Passed on to `Experiment.execute`.
        graph: The stages.
        store: Where results are kept.
        engine: Where batches are executed.
        progress: Is told of each finished stage.
        batch: Stages per call of `Experiment.execute` at most.
        states_limit: Bytes of shared states that stay in the store.

    Attributes:
        computed: Keys of the stages that were computed by this scheduler.
        errors: For each key of a failed stage, its error.
    """

    def __init__(
        self,
        experiment: Experiment,
        data: Any,
        graph: StageGraph,
        store: Store,
        engine: Engine,
        progress: Progress,
        *,
        batch: int,
        states_limit: int,
    ) -> None:
        self.computed: set[str] = set()
        self.errors: dict[str, BaseException] = {}
        self._experiment, self._data, self._graph, self._store = experiment, data, graph, store
        self._engine, self._progress, self._batch = engine, progress, batch
        self._locks, self._presence = StageLocks(store.folder), Presence(store.folder)
        self._marks = StateMarks(store, states_limit)
        self._running: dict[Future[list[StageResult]], list[str]] = {}
        self._blocked: list[str] = []
        self._retry_at = 0.0
        self._losses = 0

    def work(self) -> None:
        """Execute stages until every one has its result or has failed.

        Raises:
            StoreError: A result cannot be written.
            SweepError: Workers die again and again.
        """
        self._progress.advance(reused=len(self._graph.nodes) - len(self._graph.wanted))
        if self._graph.wanted:
            self._engine.start(self._experiment, self._data)
        while self._graph.wanted:
            self._submit_batches()
            if self._running:
                timeout = POLL_SECONDS if self._blocked else None
                for future in wait(self._running, timeout, return_when=FIRST_COMPLETED).done:
                    self._collect(future)
            elif self._blocked:
                time.sleep(POLL_SECONDS)
            elif self._graph.wanted and not self._graph.ready_count():
                raise RuntimeError(f"{len(self._graph.wanted)} stages can never become ready")
        self._release_states(self._graph.nodes)

    def close(self) -> None:
        """Stop what is still being executed, and release the locks."""
        try:
            self._engine.stop()
        finally:
            self._locks.release_all()
            self._presence.leave()
            self._progress.close()

    def clean_up(self) -> None:
        """After `close`: remove the states that neither this sweep nor any other needs.

        Whoever leaves the store last does it. A sweep that is still at work, or begins now, keeps the states
        that it may need until it leaves in turn; where it begins just before a removal it computes again.
        """
        if self._presence.alone():
            self._marks.remove_unneeded()
            self._marks.evict()

    def _submit_batches(self) -> None:
        if self._blocked and time.monotonic() >= self._retry_at:
            for key in self._blocked:
                self._graph.make_ready(key)
            self._blocked.clear()
        while (free := self._engine.capacity - len(self._running)) > 0:
            # An even share, so that no worker is idle while another has a full batch.
            share = -(-self._graph.ready_count() // free)
            keys, states = self._take_batch(max(1, min(self._batch, share)))
            if not keys:
                return
            stages = [self._graph.nodes[key].stage.config for key in keys]
            self._running[self._engine.submit(stages, states)] = keys

    def _take_batch(self, size: int) -> tuple[list[str], list[State | None]]:
        """Ready stages of one batch key, locked, with the states that they continue from."""
        keys: list[str] = []
        states: list[State | None] = []
        for group in self._graph.take():
            for key in group:
                usable, state = self._claim(key)
                if usable:
                    keys.append(key)
                    states.append(state)
                if len(keys) == size:
                    break
            if keys:
                break
        return keys, states

    def _claim(self, key: str) -> tuple[bool, State | None]:
        """Lock a stage: whether it is to be computed here and now, and the state that it continues from."""
        node = self._graph.nodes[key]
        if not self._locks.try_acquire(key):
            self._graph.busy.discard(key)
            self._blocked.append(key)
            self._retry_at = time.monotonic() + POLL_SECONDS
            return False, None
        # Another process may have finished it since the store was looked at.
        node.entry = self._store.get(node.stage) or node.entry
        if node.entry and (not self._graph.needs_state(key) or self._store.has_state(node.entry)):
            self._progress.advance(reused=1)
            self._finish(key)
            return False, None
        if node.parent is None:
            return True, None
        parent = self._graph.nodes[node.parent]
        entry = self._store.get(parent.stage) or parent.entry
        state = self._store.load_state(entry) if entry else None
        if state is None:
            self._locks.release(key)
            self._graph.missing_state(key)
            return False, None
        self._marks.used(parent.stage)
        return True, state

    def _collect(self, future: Future[list[StageResult]]) -> None:
        keys = self._running.pop(future)
        error = future.exception()
        if error is None:
            for key, result in zip(keys, future.result(), strict=True):
                self._keep(key, result)
        elif isinstance(error, self._engine.lost):
            self._lost(keys, error)
        elif len(keys) > 1:
            _warn(f"{len(keys)} stages that were executed together failed ({error}); each is tried alone.")
            self._retry_alone(keys)
        else:
            self._fail(keys[0], error)

    def _keep(self, key: str, result: StageResult) -> None:
        node = self._graph.nodes[key]
        try:
            rows = as_kept(result.rows, node.stage)
            if node.entry and node.entry.rows != rows:
                # Tables and figures may have been made from the first measurements.
                if not self._experiment.numerics:
                    _warn(
                        f"A stage of {self._experiment.name} was computed again for its state and measured "
                        f"something else than the first time ({self._store.entry_path(node.stage)}). The "
                        "first measurements are kept. Something that is not in its configuration influences "
                        "it: another machine, another library version, or a change that should have raised "
                        "the experiment's version."
                    )
                rows = node.entry.rows
            stays = self._graph.needs_state(key) or self._experiment.shared(node.stage.config)
            state = result.state if stays or not result.state else None
            node.entry = self._store.put(node.stage, rows, state)
        except ParameterError as error:
            self._fail(key, error)
            return
        self._losses = 0
        self.computed.add(key)
        self._progress.advance(computed=1)
        self._finish(key)

    def _finish(self, key: str) -> None:
        self._locks.release(key)
        self._graph.done(key)
        parent = self._graph.nodes[key].parent
        if parent:
            self._release_states([parent])

    def _release_states(self, keys: Iterable[str]) -> None:
        """Mark the states that outlive the sweep, and remove those that nothing continues from any more."""
        alone: bool | None = None
        newly_shared = False
        for key in keys:
            stage = self._graph.nodes[key].stage
            if self._graph.keeps(key):
                self._marks.keep(stage)
            elif self._experiment.shared(stage.config):
                newly_shared |= self._marks.share(stage)
            elif self._graph.is_idle(key) and not self._marks.is_kept(stage):
                # Another sweep may be about to continue from it.
                alone = self._presence.alone() if alone is None else alone
                if alone:
                    self._store.drop_state(stage)
                else:
                    self._marks.mark_unneeded(stage)
        if newly_shared and self._marks.over_limit() and self._presence.alone():
            self._marks.evict(self._is_about_to_be_used)

    def _is_about_to_be_used(self, key: str) -> bool:
        return key in self._graph.nodes and self._graph.needs_state(key)

    def _fail(self, key: str, error: BaseException) -> None:
        self._locks.release(key)
        self.errors[key] = error
        self._graph.failed(key)

    def _retry_alone(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._locks.release(key)
            self._graph.give_back(key, alone=True)

    def _lost(self, keys: list[str], error: BaseException) -> None:
        self._losses += 1
        if self._losses == LOSSES:
            script = (
                " If this is a script, its work must stand under `if __name__ == '__main__':`, because every "
                "worker imports it."
            )
            raise SweepError(
                f"Workers of the sweep {self._experiment.name} were ended from outside {LOSSES} times in a "
                "row, most likely because memory ran out. Try a smaller batch (now "
                f"{self._batch}) or fewer jobs (now {self._engine.capacity}). What was finished is kept in "
                f"{self._store.folder}.{'' if self.computed else script}"
            ) from error
        alone = [key for key in keys if key in self._graph.alone]
        for key in alone:
            self._fail(key, StageError("its worker was ended from outside, though it was computed alone"))
        if not alone:
            _warn(
                f"A worker of the sweep {self._experiment.name} was ended from outside (out of memory?); "
                "what it was computing is computed again, one stage at a time."
            )
            self._retry_alone(keys)


def _warn(text: str) -> None:
    warnings.warn(text, SweepWarning, stacklevel=2)
