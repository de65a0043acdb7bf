"""Which stages a sweep consists of, which of them must be computed, and which can be computed now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from driftlab.core.errors import ParameterError
from driftlab.runs.canonical import as_json, canonical_json
from driftlab.runs.experiment import Config, Experiment, Row, StageId, stage_id
from driftlab.runs.store import Entry, Store

KeepStates = bool | Sequence[Config] | Literal["last"]
"""Stages whose states stay in the store: none, all, those of the given runs, or each run's last one."""


@dataclass
class Node:
    """A stage of a sweep; one node for all runs that it belongs to.

    Attributes:
        stage: Identity of its result.
        depth: Number of stages before it in a run.
        parent: Key of the stage before it.
        batch_key: See `Experiment.batch_key`.
        children: Keys of the stages that continue from it.
        entry: Its result, once it is in the store.
    """

    stage: StageId
    depth: int
    parent: str | None
    batch_key: str
    children: list[str] = field(default_factory=list)
    entry: Entry | None = None


class StageGraph:
    """The distinct stages of all runs, and which of them must be computed.

    A stage is *wanted* if it has no result, or if a wanted stage continues from its state and the state is
    gone. It is *ready* if it is wanted and the state of its predecessor is in the store.

    Attributes:
        nodes: Every distinct stage by its key, predecessors first.
        runs: Each run's configuration and the keys of its stages.
        wanted: Keys of the stages that must be computed.
        busy: Keys of wanted stages that are being computed.
        alone: Keys of stages that are not executed together with others.
        blame: For each stage that failed, or that comes after one that did: the key of the one that failed.

    Args:
        experiment: Gives the stages of each run.
        configs: The runs; a run that is given twice counts once.
        digest: Digest of the data.
        store: Where results are looked for.
        keep_states: Stages whose states are wanted as well.

    Raises:
        ParameterError: A configuration holds something else than JSON values, or has no stages.
        ValueError: The experiment gives one stage two different predecessors.
    """

    def __init__(
        self,
        experiment: Experiment,
        configs: Sequence[Config],
        digest: str,
        store: Store,
        *,
        keep_states: KeepStates,
    ) -> None:
        self._store = store
        self._kept: set[str] = set()
        self.nodes: dict[str, Node] = {}
        self.runs: list[tuple[Config, tuple[str, ...]]] = []
        self.wanted: set[str] = set()
        self.busy: set[str] = set()
        self.alone: set[str] = set()
        self.blame: dict[str, str] = {}
        self._ready: dict[tuple[int, str, str], dict[str, None]] = {}
        # What is executed is what is hashed: configurations as they read back from JSON.
        distinct = {
            canonical_json(config, f"run configuration {i}"): None for i, config in enumerate(configs)
        }
        with_states = {
            canonical_json(config, "a run whose states are kept") for config in _runs_to_keep(keep_states)
        }
        for text in distinct:
            config = json.loads(text)
            self.runs.append((config, tuple(self._add_chain(experiment, config, digest))))
            if keep_states is True or text in with_states:
                self._kept.update(self.runs[-1][1])
            elif keep_states == "last":
                self._kept.add(self.runs[-1][1][-1])
        for node in self.nodes.values():
            node.entry = store.get(node.stage)
        for key, node in self.nodes.items():
            if node.entry is None or (self.keeps(key) and not store.has_state(node.entry)):
                self._want(key)

    def _add_chain(self, experiment: Experiment, config: Config, digest: str) -> Iterator[str]:
        parent: str | None = None
        stages = experiment.chain(config)
        if not stages:
            raise ParameterError(f"The run {dict(config)} of {experiment.name} has no stages.")
        for depth, stage_config in enumerate(stages):
            plain = as_json(stage_config, f"a stage configuration of {experiment.name}")
            stage = stage_id(experiment, digest, plain)
            node = self.nodes.get(stage.key)
            if node is None:
                node = self.nodes[stage.key] = Node(stage, depth, parent, experiment.batch_key(plain))
                if parent is not None:
                    self.nodes[parent].children.append(stage.key)
            elif node.parent != parent:
                raise ValueError(
                    f"{experiment.name}.chain gives the stage {stage_config} two different predecessors: its "
                    "configuration must hold everything that influences it."
                )
            parent = stage.key
            yield parent

    def _want(self, key: str) -> None:
        while key not in self.wanted:
            self.wanted.add(key)
            parent = self.nodes[key].parent
            if parent is None or self._can_continue_from(parent):
                self.make_ready(key)
                return
            key = parent

    def _can_continue_from(self, key: str) -> bool:
        entry = self.nodes[key].entry
        return key not in self.wanted and entry is not None and self._store.has_state(entry)

    def make_ready(self, key: str) -> None:
        """Add a stage to those that can be computed now, unless it is not wanted or is being computed."""
        if key in self.wanted and key not in self.busy:
            node = self.nodes[key]
            group = (node.depth, node.batch_key, key if key in self.alone else "")
            self._ready.setdefault(group, {})[key] = None

    def give_back(self, key: str, *, alone: bool) -> None:
        """Return a stage that was taken and not finished; alone: never batch it with others again."""
        self.busy.discard(key)
        if alone:
            self.alone.add(key)
        self.make_ready(key)

    def missing_state(self, key: str) -> None:
        """Return a stage that was taken although its predecessor's state is gone: that one comes first."""
        self.busy.discard(key)
        parent = self.nodes[key].parent
        assert parent is not None
        self._want(parent)

    def keeps(self, key: str) -> bool:
        """Whether the caller asked for the stage's state (`keep_states`)."""
        return key in self._kept

    def needs_state(self, key: str) -> bool:
        """Whether the stage's state is wanted: by the caller, or by a stage that will continue from it."""
        return self.keeps(key) or any(child in self.wanted for child in self.nodes[key].children)

    def rows(self, key: str) -> list[Row]:
        """The measurements of a finished stage."""
        entry = self.nodes[key].entry
        assert entry is not None
        return entry.rows

    def done(self, key: str) -> None:
        """Note that a stage has its result (in its node), and its state where that is needed."""
        self.wanted.discard(key)
        self.busy.discard(key)
        self.blame.pop(key, None)
        for child in self.nodes[key].children:
            self.make_ready(child)

    def failed(self, key: str) -> None:
        """Note that a stage failed: neither it nor the stages after it can be computed."""
        stack = [key]
        while stack:
            current = stack.pop()
            self.wanted.discard(current)
            self.busy.discard(current)
            self.blame[current] = key
            stack.extend(child for child in self.nodes[current].children if child in self.wanted)

    def ready_count(self) -> int:
        """How many stages can be computed now."""
        return sum(len(group) for group in self._ready.values())

    def take(self) -> Iterator[Iterator[str]]:
        """Groups of ready stages that may be executed together: lowest depth first, then largest group.

        A stage counts as being computed from the moment at which its group's iterator yields it.
        """
        self._ready = {name: group for name, group in self._ready.items() if group}
        for name in sorted(self._ready, key=lambda name: (name[0], -len(self._ready[name]))):
            yield self._take_from(self._ready[name])

    def _take_from(self, group: dict[str, None]) -> Iterator[str]:
        while group:
            key = next(iter(group))
            del group[key]
            if key in self.wanted:
                self.busy.add(key)
                yield key

    def is_idle(self, key: str) -> bool:
        """Whether stages continue from this one and all of them are finished."""
        children = self.nodes[key].children
        return bool(children) and not any(child in self.wanted or child in self.blame for child in children)


def _runs_to_keep(keep_states: KeepStates) -> Sequence[Config]:
    return () if isinstance(keep_states, bool | str) else keep_states
