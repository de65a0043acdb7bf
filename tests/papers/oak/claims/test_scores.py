"""Scores with their noise: repetitions where there are three, else bootstrap draws over units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.core.lineage import lineage, stamp
from driftlab.papers.oak.claims import overall, unknown
from driftlab.papers.oak.scores import Sample, difference, scores

from ..plausible_stream import stream_table
from .printed import by_unit, printed

SPREAD = np.linspace(-1, 1, 12)


def sample(
    values: list[list[float]], seeds: list[int] | None = None, *, deterministic: bool = False
) -> Sample:
    """Repetitions by units."""
    return Sample(pd.DataFrame(values, index=seeds or range(len(values))), deterministic)


def test_three_repetitions_are_paired() -> None:
    first, second = sample([[3, 5], [4, 6], [5, 9]]), sample([[1, 3], [1, 3], [1, 3]])
    found = difference(first, second)
    # Means 4, 5 and 7 against 2: differences 2, 3 and 5.
    assert found.value == pytest.approx(10 / 3)
    assert found.noise == pytest.approx(np.std([2, 3, 5], ddof=1) / np.sqrt(3))
    assert difference(first, second, 0.5).value == pytest.approx(16 / 3 - 1)


def test_common_repetitions_are_paired_by_seed() -> None:
    first, second = sample([[1], [2], [4], [9]], [0, 1, 2, 3]), sample([[4], [2], [1]], [2, 1, 0])
    assert difference(first, second).value == 0.0
    assert difference(first, second).noise == 0.0


def test_a_deterministic_method_has_every_repetition() -> None:
    found = difference(sample([[3], [4], [5]]), sample([[1]], deterministic=True))
    assert (found.value, found.noise) == (3.0, pytest.approx(1 / np.sqrt(3)))


def test_one_repetition_has_the_noise_of_its_units() -> None:
    first, second = sample([[1, 5, 3, 7]]), sample([[1, 4, 3, 4]])
    found = difference(first, second)
    assert found.value == pytest.approx(1.0)
    # The standard deviation of a mean of four of the differences 0, 1, 0, 3.
    assert found.noise == pytest.approx(np.std([0, 1, 0, 3]) / 2, rel=0.1)
    assert difference(first, second) == found, "draws are seeded"


def test_units_that_one_of_them_lacks_do_not_count_for_the_noise() -> None:
    found = difference(sample([[1.0, np.nan, 3.0]]), sample([[1.0, 2.0, np.nan]]))
    assert np.isnan(found.noise), "one common unit says nothing"


def test_few_repetitions_make_a_verdict_provisional() -> None:
    given = by_unit({"iCaRL": (20 + SPREAD).tolist(), "Incremental": (12 + SPREAD).tolist()})
    assert given.note(["iCaRL"]).startswith(" Provisional: fewer than 3 repetitions of iCaRL")
    assert "bootstrap over classes" in given.note(["iCaRL"])
    assert printed("table_1", "CAP").note(["iCaRL", "Incremental"]) == ""
    still = by_unit({"Non-adaptation": [1.0, 2.0]})
    assert still.note(["Non-adaptation"]) == "", "its repetitions are equal"


def test_variants_may_not_be_mixed() -> None:
    frame = pd.DataFrame(
        {"variant": ["oak/a/known", "oak/b/known"], "method": "EWC", "seed": 0, "class": "c"}
    )
    with pytest.raises(ParameterError, match="one variant"):
        scores(frame.assign(cap=0.1), ["cap"])


def test_scores_and_verdicts_carry_their_runs() -> None:
    table = stamp(stream_table(), "test")
    from driftlab.metrics.stream_precision import class_ap, class_metrics

    given = scores(class_metrics(class_ap(table)), ["cap", "fap"])
    assert lineage(given).digest == lineage(table).digest != ""
    assert lineage(overall.icarl_is_above_incremental(given)).digest == lineage(table).digest


def test_the_two_vocabularies_of_one_detector_are_compared() -> None:
    known, unseen = printed("table_1", "CAP", "FAP"), printed("table_2", "CAP", "FAP")
    judge = unknown.every_method_is_lower_than_with_a_known_vocabulary
    for first, second in ((unseen, known), (known, known)):
        with pytest.raises(ParameterError, match="Known and unknown vocabulary are compared, not oak/"):
            judge(first, second)
    evidence = judge(known, unseen).evidence
    assert "CAP Incremental, known − unknown +0.69 ± 0.00" in evidence


def test_the_pretrained_detector() -> None:
    values = {"Non-adaptation": [24.0, 56.0, 0.0, 0.0], "Offline training": [66.0, 79.0, 20.0, 36.0]}
    given = by_unit(values)
    pretrained = ["class 0", "class 1"]
    verdict = overall.pretrained_detector_does_badly(given, pretrained)
    assert verdict.outcome == "holds", verdict.evidence
    assert "AP 0 on 2 other classes" in verdict.evidence
    assert "on 2 shared classes +32.50" in verdict.evidence
    foreign = by_unit(values | {"Non-adaptation": [24.0, 56.0, 0.0, 0.5]})
    verdict = overall.pretrained_detector_does_badly(foreign, pretrained)
    assert verdict.outcome == "does not hold" and "AP above 0 on class 3" in verdict.evidence
    official = overall.pretrained_detector_does_badly(given, pretrained, official=True)
    assert official.outcome == "undecided", "CAP 20 with the noise of four classes against a limit of 10"
    assert overall.pretrained_detector_does_badly(given, ["ghost"]).outcome == "not testable"


def test_the_long_tail_of_official_data() -> None:
    known = by_unit({"Offline training": np.arange(10.0).tolist()}, "fap")
    boxes = pd.Series(range(10), [f"class {c}" for c in range(10)])
    assert overall.rare_classes_have_lower_ap(known, boxes, official=True).outcome == "holds"
    assert overall.rare_classes_have_lower_ap(known, -boxes, official=True).outcome == "undecided"
    assert overall.rare_classes_have_lower_ap(known, boxes, official=False).outcome == "not testable"
