"""Each claim on frames where it holds, where it does not, and where it cannot be tested."""

from __future__ import annotations

import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.accuracy_matrix import final_metrics, task_accuracy
from driftlab.metrics.theorem import check_theorem
from driftlab.papers.cgl import claims
from reporting.plausible import plausible_table, task_orders

METHODS = ["BARE", "EWC", "MAS", "TWP", "LwF", "GEM", "REPLAY"]


def frame(column: str, variant: str = "nucla/gcn", **values: float) -> pd.DataFrame:
    """Two repetitions a method whose mean is the given percentage."""
    return pd.DataFrame(
        [
            {
                "paper": "cgl",
                "variant": variant,
                "method": method,
                "seed": seed,
                column: value / 100 + shift,
            }
            for method, value in values.items()
            for seed, shift in enumerate((-0.01, 0.01))
        ]
    )


def accuracies(**changes: float) -> pd.DataFrame:
    values = {"BARE": 19, "EWC": 20, "MAS": 21, "TWP": 22, "LwF": 33, "GEM": 27, "REPLAY": 58, "JOINT": 83}
    return frame("average_accuracy", **(values | changes))


def sensitivities(**changes: float) -> pd.DataFrame:
    """The paper's own column "task UCLA AOPD"."""
    values = dict(zip(METHODS, (96.74, 93.94, 89.46, 85.39, 63.21, 83.89, 58.21), strict=True))
    return frame("aopd", **(values | changes))


def without(data: pd.DataFrame, *methods: str) -> pd.DataFrame:
    return data[~data["method"].isin(methods)]


def test_claim_1() -> None:
    verdict = claims.claim_1(accuracies())
    assert verdict.outcome == "holds"
    assert "JOINT 83.00 against the best other REPLAY 58.00" in verdict.evidence
    assert "BARE 19.00 against the worst other EWC 20.00" in verdict.evidence
    assert claims.claim_1(accuracies(JOINT=50)).outcome == "does not hold"
    assert claims.claim_1(accuracies(EWC=18)).outcome == "does not hold"
    absent = claims.claim_1(without(accuracies(), "JOINT", "MAS"))
    assert (absent.outcome, absent.evidence) == ("not testable", "Without runs of MAS, JOINT.")


def test_claim_2() -> None:
    verdict = claims.claim_2({"task UCLA": sensitivities()})
    assert verdict.outcome == "holds"
    assert "task UCLA: REPLAY 58.21 against the lowest other LwF 63.21" in verdict.evidence
    assert "BARE 96.74 against the highest other EWC 93.94" in verdict.evidence
    tie = sensitivities(BARE=100, EWC=100)
    assert claims.claim_2({"class UCLA": tie}).outcome == "holds"  # the paper's own column has this tie
    both = {"task UCLA": sensitivities(), "class UCLA": sensitivities(LwF=50)}
    assert claims.claim_2(both).outcome == "does not hold"
    assert claims.claim_2({"task UCLA": sensitivities(MAS=97)}).outcome == "does not hold"
    assert claims.claim_2({"task UCLA": without(sensitivities(), "GEM")}).outcome == "not testable"
    assert claims.claim_2({}).outcome == "not testable"


def test_claim_3() -> None:
    by_class = sensitivities(**dict.fromkeys(METHODS, 99.0))
    verdict = claims.claim_3(sensitivities(), by_class)
    assert verdict.outcome == "holds"
    assert "LwF 99.00 against 63.21" in verdict.evidence
    assert claims.claim_3(sensitivities(), sensitivities(LwF=70)).outcome == "does not hold"
    assert claims.claim_3(without(sensitivities(), "BARE"), by_class).evidence == "Without runs of BARE."


def test_claim_4() -> None:
    verdict = claims.claim_4(sensitivities())
    assert verdict.outcome == "holds"
    assert verdict.evidence == "LwF 63.21 against GEM 83.89: 20.68 points below."
    assert claims.claim_4(sensitivities(LwF=73.5)).outcome == "holds"
    assert claims.claim_4(sensitivities(LwF=74.5)).outcome == "does not hold"
    other = frame("aopd", variant="ntu/gcn", **dict.fromkeys(METHODS, 50.0))
    assert claims.claim_4(other).evidence == "The claim is about N-UCLA; these runs are of ntu."


def test_claim_5() -> None:
    def forgetting(gem: float) -> pd.DataFrame:
        return frame("average_forgetting", BARE=89, EWC=85, MAS=80, TWP=79, LwF=60, GEM=gem, REPLAY=30)

    assert claims.claim_5(forgetting(gem=55)).outcome == "holds"
    verdict = claims.claim_5(forgetting(gem=61))
    assert verdict.outcome == "does not hold"
    assert verdict.evidence == "GEM 61.00 against the lowest other LwF 60.00."
    assert claims.claim_5(without(forgetting(gem=1), "LwF")).outcome == "not testable"


def test_claim_6() -> None:
    accuracy = task_accuracy(plausible_table(task_orders(3), methods=["BARE", "REPLAY"]))
    verdict = claims.claim_6(check_theorem(accuracy))
    assert verdict.outcome == "holds"
    assert verdict.evidence.startswith("0 violations in 24 stages of 6 runs; smallest slack ")
    accuracy.loc[accuracy["trained_on"] == 1, "value"] = 3.0
    assert claims.claim_6(check_theorem(accuracy)).outcome == "does not hold"
    first_tasks = accuracy[accuracy["trained_on"] == 1]
    assert claims.claim_6(check_theorem(first_tasks)).outcome == "not testable"


def test_claim_9() -> None:
    verdict = claims.claim_9(accuracies(TWP=19.9, EWC=18, MAS=18.5))
    assert verdict.outcome == "holds"
    assert verdict.evidence == "BARE 19.00, EWC 18.00, MAS 18.50, TWP 19.90; LwF 33.00."
    assert claims.claim_9(accuracies(TWP=20.1, EWC=18, MAS=18)).outcome == "does not hold"
    assert claims.claim_9(without(accuracies(), "LwF", "TWP")).outcome == "not testable"
    ntu = accuracies().assign(variant="ntu/st-gcn")
    assert "about N-UCLA" in claims.claim_9(ntu).evidence


def test_claim_10() -> None:
    assert claims.claim_10(accuracies()).evidence == "GEM 27.00, REPLAY 58.00."
    assert claims.claim_10(accuracies()).outcome == "holds"
    assert claims.claim_10(accuracies(GEM=60)).outcome == "does not hold"
    assert claims.claim_10(without(accuracies(), "GEM")).evidence == "Without runs of GEM."


def test_variants_may_not_be_mixed() -> None:
    mixed = pd.concat([accuracies(), accuracies().assign(variant="ntu/gcn")])
    with pytest.raises(ParameterError, match="one variant at a time, not on: ntu/gcn, nucla/gcn"):
        claims.claim_10(mixed)


def test_on_metrics_of_a_whole_experiment() -> None:
    table = plausible_table(task_orders(4), methods=[*METHODS, "JOINT"], seeds=2)
    final = final_metrics(task_accuracy(table))
    assert claims.claim_1(final).outcome == "holds"
    assert claims.claim_10(final).outcome == "holds"
