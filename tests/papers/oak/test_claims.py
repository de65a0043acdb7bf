"""Each claim on frames where it holds, where it does not, and where it cannot be tested."""

from __future__ import annotations

import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.forgetfulness import exposure, forgetfulness, forgetfulness_summary, forgetting_curve
from driftlab.metrics.stream_precision import class_ap, online_metrics
from driftlab.metrics.transfer import stretch_matrix, transfer
from driftlab.papers.oak import claims
from driftlab.papers.oak.time_claim import claim_8
from driftlab.reporting.printed_papers import paper

from .plausible_stream import METHODS, stream_table

NAMES = ["Non-adaptation", "Incremental", "EWC", "iCaRL", "Offline training"]
TABLES = paper("oak").tables


def frame(values: dict[str, dict[str, float]], variant: str = "oak/small/known") -> pd.DataFrame:
    """Two repetitions a method whose means are the given percentages, by column."""
    methods = dict.fromkeys(name for of in values.values() for name in of)
    return pd.DataFrame(
        [
            {"paper": "oak", "variant": variant, "method": method, "seed": seed}
            | {column: of[method] / 100 + shift for column, of in values.items()}
            for method in methods
            for seed, shift in enumerate((-0.001, 0.001))
        ]
    )


def printed(table: str, *columns: str) -> list[dict[str, float]]:
    """The paper's own numbers of some columns, by method."""
    found = TABLES[table]
    return [
        {method: float(cells[found.columns.index(column)]) for method, cells in found.rows.items()}  # type: ignore[arg-type]
        for column in columns
    ]


def scores(
    cap: dict[str, float] | None = None,
    fap: dict[str, float] | None = None,
    table: str = "table_1",
    variant: str = "oak/small/known",
) -> pd.DataFrame:
    """The paper's CAP and FAP with changes."""
    caps, faps = printed(table, "CAP", "FAP")
    return frame({"cap": caps | (cap or {}), "fap": faps | (fap or {})}, variant)


def without(data: pd.DataFrame, *methods: str) -> pd.DataFrame:
    return data[~data["method"].isin(methods)]


def test_claim_1() -> None:
    verdict = claims.claim_1(scores())
    assert verdict.outcome == "holds"
    assert "CAP: offline training 37.11 against the best other iCaRL 16.39" in verdict.evidence
    assert "FAP: offline training 49.48" in verdict.evidence
    assert "non-adaptation 2.86 against the worst other Incremental 12.47" in verdict.evidence
    assert claims.claim_1(scores(cap={"iCaRL": 38.0})).outcome == "does not hold"
    assert claims.claim_1(scores(fap={"Non-adaptation": 13.0})).outcome == "does not hold"
    absent = claims.claim_1(without(scores(), "EWC", "Offline training"))
    assert (absent.outcome, absent.evidence) == ("not testable", "Without runs of EWC, Offline training.")


def test_claim_2() -> None:
    verdict = claims.claim_2(scores())
    assert verdict.outcome == "holds"
    assert verdict.evidence == "CAP: iCaRL 16.39, Incremental 10.47; FAP: iCaRL 21.89, Incremental 12.47."
    assert claims.claim_2(scores(fap={"iCaRL": 12.0})).outcome == "does not hold"
    assert claims.claim_2(scores(cap={"iCaRL": 10.0})).outcome == "does not hold"
    assert claims.claim_2(without(scores(), "iCaRL")).outcome == "not testable"


def test_claim_3() -> None:
    verdict = claims.claim_3(scores())
    assert verdict.outcome == "holds"
    assert verdict.evidence == "EWC 10.52, Incremental 10.47: 0.05 points apart."
    assert claims.claim_3(scores(cap={"EWC": 11.4})).outcome == "holds"
    assert claims.claim_3(scores(cap={"EWC": 11.5})).outcome == "does not hold"
    assert claims.claim_3(scores(cap={"EWC": 9.4})).outcome == "does not hold"
    assert claims.claim_3(without(scores(), "EWC")).outcome == "not testable"


def test_claim_4() -> None:
    verdict = claims.claim_4(scores())
    assert verdict.outcome == "holds"
    assert "Incremental 12.47 against 10.47" in verdict.evidence
    assert claims.claim_4(scores(fap={"EWC": 10.0})).outcome == "does not hold"
    assert claims.claim_4(without(scores(), "Non-adaptation")).outcome == "holds"
    assert claims.claim_4(without(scores(), "iCaRL")).outcome == "not testable"


def test_claim_5() -> None:
    unknown = scores(table="table_2", variant="oak/small/unknown")
    verdict = claims.claim_5(scores(), unknown)
    assert verdict.outcome == "holds"
    assert "CAP, unknown against known: Incremental 9.78 against 10.47" in verdict.evidence
    for changed in (scores(cap={"EWC": 9.5}), scores(fap={"iCaRL": 17.0})):
        assert claims.claim_5(changed, unknown).outcome == "does not hold"
    assert claims.claim_5(scores(), without(unknown, "EWC")).evidence == "Without runs of EWC."


def test_claim_5_compares_the_two_vocabularies_of_one_detector() -> None:
    known, unknown = scores(), scores(table="table_2", variant="oak/small/unknown")
    for first, second in (
        (unknown, known),
        (known, known),
        (known.assign(variant="oak/r50/known"), unknown),
    ):
        with pytest.raises(ParameterError, match="Known and unknown vocabulary are compared, not oak/"):
            claims.claim_5(first, second)


def test_claim_6() -> None:
    (overall,) = printed("table_3", "Overall")
    assert claims.claim_6(frame({"forgetfulness": overall})).outcome == "holds"
    verdict = claims.claim_6(frame({"forgetfulness": overall | {"EWC": 1.0}}))
    assert verdict.outcome == "does not hold"
    assert verdict.evidence == "F: Incremental 5.77, EWC 1.00, iCaRL 1.78."
    assert claims.claim_6(without(frame({"forgetfulness": overall}), "EWC")).outcome == "not testable"


def test_claim_7() -> None:
    forward, backward = printed("table_4", "FWT", "BWT")
    verdict = claims.claim_7(frame({"fwt": forward, "bwt": backward}))
    assert verdict.outcome == "holds"
    assert verdict.evidence == "BWT: EWC -3.62, Incremental -4.51; FWT: EWC 14.84, Incremental 15.01."
    more = frame({"fwt": forward | {"EWC": 15.1}, "bwt": backward})
    less = frame({"fwt": forward, "bwt": backward | {"EWC": -4.6}})
    assert claims.claim_7(more).outcome == claims.claim_7(less).outcome == "does not hold"
    assert claims.claim_7(without(more, "Incremental")).outcome == "not testable"


def changes(values: dict[str, tuple[float, float]], method: str = "Incremental") -> pd.DataFrame:
    """Two intervals a class: its change (points) while seen and while not, and one before it is seen."""
    rows = [
        (name, trained_on, since, seen, change)
        for name, (rise, fall) in values.items()
        for trained_on, since, seen, change in (
            (10, None, False, 7.0),  # before it was first seen; must not count
            (20, 0.0, True, rise),
            (30, 10.0, False, fall),
        )
    ]
    found = pd.DataFrame(rows, columns=["class", "trained_on", "since", "seen", "change"])
    found["change"] /= 100
    return found.assign(paper="oak", variant="oak/small/known", method=method, seed=0, order="", value=0.5)


def test_claim_8() -> None:
    verdict = claim_8(changes({"car": (5, -1), "bag": (3, -2), "booth": (1, -3)}))
    assert verdict.outcome == "holds"
    assert verdict.evidence == (
        "Incremental: +3.00 points an interval while seen and -2.00 while not, so for 3 of 3 classes."
    )
    # Half of the classes suffice, if the means agree.
    half = {"car": (5.0, -1.0), "bag": (3.0, -2.0), "booth": (-1.0, -3.0), "kiosk": (1.0, 1.0)}
    assert "for 2 of 4 classes" in claim_8(changes(half)).evidence
    assert claim_8(changes(half)).outcome == "holds"
    less = half | {"bag": (-0.5, -2.0)}
    assert claim_8(changes(less)).outcome == "does not hold"
    kept = {"car": (5.0, 1.0), "bag": (3.0, 2.0), "booth": (1.0, 3.0)}
    assert claim_8(changes(kept)).outcome == "does not hold"
    lost = {"car": (-5.0, -1.0), "bag": (-3.0, -2.0), "booth": (-1.0, -3.0)}
    assert claim_8(changes(lost)).outcome == "does not hold"


def test_claim_8_needs_classes_that_come_and_go() -> None:
    few = claim_8(changes({"car": (5, -1), "bag": (3, -2)}))
    assert (few.outcome, few.evidence) == ("not testable", "Only 2 classes came and went.")
    staying = changes({"car": (5, -1), "bag": (3, -2), "booth": (1, -3)})
    staying = staying[staying["seen"] | (staying["class"] != "bag")]
    assert claim_8(staying).evidence == "Only 2 classes came and went."
    other = claim_8(changes({"car": (5, -1)}, method="EWC"))
    assert other.evidence == "Without runs of Incremental that saw a class come and go."


def test_claim_8_shows_the_other_methods() -> None:
    values = {"car": (5.0, -1.0), "bag": (3.0, -2.0), "booth": (1.0, -3.0)}
    icarl = changes(dict.fromkeys(values, (1.0, 1.0)), method="iCaRL")
    verdict = claim_8(pd.concat([changes(values), icarl]))
    assert verdict.outcome == "holds"
    assert verdict.evidence.endswith("; iCaRL +1.00 and +1.00.")


def test_variants_may_not_be_mixed() -> None:
    mixed = pd.concat([scores(), scores(variant="oak/r50/known")])
    with pytest.raises(ParameterError, match="one variant; these runs are of: oak/r50/known, oak/sm"):
        claims.claim_2(mixed)


def test_on_metrics_of_a_whole_experiment() -> None:
    known, unknown = stream_table(seeds=2), stream_table(seeds=2, vocabulary="unknown")
    runs, others = (online_metrics(class_ap(table)) for table in (known, unknown))
    exposed = exposure(known)
    verdicts = [
        claims.claim_1(runs),
        claims.claim_2(runs),
        claims.claim_3(runs),
        claims.claim_4(runs),
        claims.claim_5(runs, others),
        claims.claim_6(forgetfulness_summary(forgetfulness(forgetting_curve(exposed, width=5)))),
        claims.claim_7(transfer(stretch_matrix(known))),
        claim_8(exposed),
    ]
    assert NAMES == METHODS
    assert [one.claim for one in verdicts] == [claim.id for claim in paper("oak").claims]
    holds = [verdict.claim for verdict in verdicts if verdict.outcome == "holds"]
    assert holds == ["oak-1", "oak-2", "oak-3", "oak-4", "oak-5", "oak-6", "oak-8"]
    assert all(one.test and one.evidence for one in verdicts)
