"""The memory of a stream."""

from __future__ import annotations

import numpy as np
from driftlab.methods.exemplars import FREE, Exemplars


def test_slots_fill_first() -> None:
    memory = Exemplars(classes=3, slots=3)
    memory.remember(0, [10, 11, 12], [1, 1, 2])
    memory.remember(1, [13], [1])
    assert memory.records.tolist() == [[FREE] * 3, [10, 11, 13], [12, FREE, FREE]]


def test_full_slots_are_replaced_with_the_probability() -> None:
    replaced, places = [], []
    for seed in range(1200):
        memory = Exemplars(classes=1, slots=5, seed=seed)
        memory.remember(0, range(5), [0] * 5)
        memory.remember(1, [99], [0])
        (changed,) = np.nonzero(memory.records[0] != np.arange(5))
        assert set(memory.records[0, changed]) <= {99} and len(changed) <= 1
        replaced.append(len(changed))
        places += changed.tolist()
    # Five standard deviations of a proportion.
    assert abs(np.mean(replaced) - 5 / 6) < 5 * np.sqrt(5 / 36 / len(replaced))
    shares = np.bincount(places, minlength=5) / len(places)
    assert (abs(shares - 0.2) < 5 * np.sqrt(0.16 / len(places))).all(), "every slot alike"


def test_the_probability_may_be_none_or_all() -> None:
    for replace, expected in ((0.0, {0, 1}), (1.0, {99, 98})):
        memory = Exemplars(classes=1, slots=2, replace=replace, seed=3)
        memory.remember(0, [0, 1], [0, 0])
        for step in range(1, 12):
            memory.remember(step, [99, 98], [0, 0])
        assert set(memory.records[0].tolist()) == expected


def filled(seed: int = 0) -> Exemplars:
    memory = Exemplars(classes=8, slots=5, seed=seed)
    memory.remember(0, range(35), [label for label in range(8) if label != 2 for _ in range(5)])
    return memory


def test_a_draw_has_one_record_of_every_class_that_has_any() -> None:
    memory = filled()
    memory.records[7, 1:] = FREE
    drawn = [memory.draw(step) for step in range(200)]
    for records in drawn:
        assert (records // 5).tolist() == [0, 1, 2, 3, 4, 5, 6] and records[-1] == 30
    assert {int(records[0]) for records in drawn} == {0, 1, 2, 3, 4}
    assert len(Exemplars(classes=4).draw(0)) == 0


def test_a_draw_depends_on_seed_step_and_memory_only() -> None:
    memory = filled()
    first = memory.draw(5)
    np.random.seed(1)  # the global state is nobody's
    memory.draw(6)
    assert memory.draw(5).tolist() == first.tolist() == filled().draw(5).tolist()
    assert any(memory.draw(step).tolist() != first.tolist() for step in (6, 7))
    assert any(filled(seed).draw(5).tolist() != first.tolist() for seed in (1, 2))


def test_what_is_replaced_depends_on_the_step_too() -> None:
    kept = set()
    for step in range(1, 9):
        memory = filled()
        memory.remember(step, [99], [0])
        kept.add(tuple(memory.records[0].tolist()))
    assert len(kept) > 2


def test_the_state_comes_back() -> None:
    memory, other = filled(), Exemplars(classes=8)
    state = memory.state()
    other.load_state(state)
    memory.remember(1, [99] * 8, list(range(8)))
    other.remember(1, [99] * 8, list(range(8)))
    assert np.array_equal(other.records, memory.records)
    assert other.draw(2).tolist() == memory.draw(2).tolist()
    assert 99 not in state["records"], "what was handed out does not change"
