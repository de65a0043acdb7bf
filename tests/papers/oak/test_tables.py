"""Frames for Wanderlust's tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.forgetfulness import exposure, forgetfulness, forgetfulness_summary, forgetting_curve
from driftlab.metrics.stream_precision import class_ap, class_metrics, online_metrics, unknown_ap
from driftlab.metrics.transfer import stretch_matrix, transfer
from driftlab.papers.oak.tables import (
    PRINTED,
    forgetfulness_table,
    order_against_budget,
    order_in_words,
    shown_classes,
    transfer_table,
    vocabulary_table,
)
from driftlab.reporting.printed_papers import paper
from driftlab.reporting.sidecars import provenance_of
from driftlab.reporting.tables import save_table

from .plausible_stream import CLASSES, METHODS, STREAM, plausible_stream, stream_table

SHOWN = {"Booth": "booth", "Dining Table": "dining table", "Car": "car"}


def test_the_papers_classes_come_first_then_the_most_frequent() -> None:
    names = ["car", "diningtable", "tree", "kiosk", "person", "BAG"]
    counts = np.array([9, 1, 7, 8, 7, 2])
    shown = shown_classes(names, counts, range(6), columns=5)
    # In the paper's order whatever their frequency; then by frequency, equal ones as listed.
    assert list(shown.items()) == [
        ("Bag", "BAG"),
        ("Dining Table", "diningtable"),
        ("Car", "car"),
        ("Kiosk", "kiosk"),
        ("Tree", "tree"),
    ]
    assert list(shown_classes(names, counts, [2, 3, 4])) == ["Kiosk", "Tree", "Person"]


def test_the_stand_in_has_all_the_papers_columns() -> None:
    stream = plausible_stream()
    assert tuple(shown_classes(stream.categories, stream.train.counts, stream.evaluated)) == PRINTED


def test_known_vocabulary() -> None:
    ap = class_ap(stream_table(seeds=2))
    mean, deviation = vocabulary_table(online_metrics(ap, top=4), class_metrics(ap), SHOWN)
    assert mean.columns.tolist() == ["FAP", "CAP", "Top-4", "Booth", "Dining Table", "Car"]
    assert mean.index.tolist() == METHODS == list(paper("oak").tables["table_1"].rows)
    late = ap[(ap["method"] == "iCaRL") & (ap["trained_on"] > 0)]
    assert mean.loc["iCaRL", "CAP"] == pytest.approx(100 * late["value"].mean())
    assert mean.loc["iCaRL", "FAP"] == pytest.approx(100 * late[late["trained_on"] == 120]["value"].mean())
    car = late[late["class"] == "car"].groupby("seed")["value"].mean()
    assert mean.loc["iCaRL", "Car"] == pytest.approx(100 * car.mean())
    assert deviation.loc["iCaRL", "Car"] == pytest.approx(100 * car.std())


def test_the_papers_columns_with_twenty_classes() -> None:
    rows = stream_table(methods=["Incremental"])
    more = rows.assign(tested_on=rows["tested_on"] + " of another kind")
    ap = class_ap(pd.concat([rows, more[more["tested_on"].str.startswith("class:")]]))
    mean, _ = vocabulary_table(
        online_metrics(ap), class_metrics(ap), dict(zip(PRINTED, CLASSES, strict=False))
    )
    assert mean.columns.tolist() == list(paper("oak").tables["table_1"].columns)


def test_unknown_vocabulary() -> None:
    table = stream_table(vocabulary="unknown")
    ap = class_ap(table)
    mean, _ = vocabulary_table(online_metrics(ap), class_metrics(ap), SHOWN, unknown=unknown_ap(table))
    assert mean.columns[-1] == paper("oak").tables["table_2"].columns[-1] == "IDK"
    assert np.isnan(mean.loc["Non-adaptation", "IDK"])
    idk = table[(table["tested_on"] == "idk") & (table["method"] == "EWC")]["value"]
    assert mean.loc["EWC", "IDK"] == pytest.approx(100 * idk.mean())


def test_a_class_that_was_not_tested_has_an_empty_column() -> None:
    ap = class_ap(stream_table(methods=["EWC"]))
    mean, _ = vocabulary_table(online_metrics(ap), class_metrics(ap), {"Ghost": "ghost"})
    assert np.isnan(mean.loc["EWC", "Ghost"])


def test_forgetfulness() -> None:
    table = stream_table(methods=["Incremental", "EWC", "iCaRL"])
    classes, runs = forgetfulness(forgetting_curve(exposure(table))), online_metrics(class_ap(table))
    mean, deviation = forgetfulness_table(forgetfulness_summary(classes, worst=3), classes, SHOWN, runs)
    assert mean.columns.tolist() == ["Overall", "Worst-3", "Booth", "Dining Table", "Car", "CAP"]
    assert mean.index.tolist() == list(paper("oak").tables["table_3"].rows)
    ewc = classes[classes["method"] == "EWC"]["forgetfulness"]
    assert mean.loc["EWC", "Overall"] == pytest.approx(100 * ewc.mean())
    assert mean.loc["EWC", "Worst-3"] == pytest.approx(100 * ewc.nlargest(3).mean())
    assert np.isnan(deviation.to_numpy()).all()  # one repetition


def test_transfer() -> None:
    table = stream_table(methods=["Incremental", "EWC", "iCaRL"])
    transferred, runs = transfer(stretch_matrix(table)), online_metrics(class_ap(table))
    mean, _ = transfer_table(transferred, runs)
    assert mean.columns.tolist() == [*paper("oak").tables["table_4"].columns, "CAP"]
    assert mean.loc["EWC", "CAP"] == pytest.approx(100 * runs.set_index("method").loc["EWC", "cap"])
    assert mean.index.tolist() == list(paper("oak").tables["table_4"].rows)
    assert mean["BWT"].tolist() == pytest.approx(
        100 * transferred.set_index("method").loc[mean.index, "bwt"].to_numpy()
    )


def test_variants_may_not_be_mixed() -> None:
    both = pd.concat([stream_table(methods=["EWC"], vocabulary=name) for name in ("known", "unknown")])
    with pytest.raises(ParameterError, match="one variant; these runs are of: oak/small/known, oak"):
        transfer_table(transfer(stretch_matrix(both)), online_metrics(class_ap(both)))


def test_order_against_budget() -> None:
    values = {"Incremental": 0.13, "Incremental, shuffled stream": 0.28, "Offline training": 0.38}
    runs = pd.DataFrame(
        [
            {
                "paper": "oak",
                "variant": "oak/small/known",
                "method": method,
                "seed": seed,
                "fap": fap,
                "cap": fap / 2,
            }
            for method, fap in values.items()
            for seed in range(2)
        ]
    )
    order = order_against_budget(runs)
    assert order.loc["FAP"].round(6).to_dict() == {
        **{"in order": 13, "shuffled": 28, "offline": 38, "gap": 25, "from order": 15, "from budget": 10},
        "share of order": 60,
    }
    assert order_in_words(order).splitlines()[0] == (
        "FAP: 13.0 in order, 28.0 shuffled, 38.0 offline; 60 % of the gap of 25.0 points comes from order"
    )
    without = order_against_budget(runs[runs["method"] != "Offline training"])
    assert without.empty and "are told apart by runs of Incremental, Incremental, sh" in order_in_words(
        without
    )


def test_it_can_be_saved(tmp_path: Path) -> None:
    ap = class_ap(stream_table(seeds=2))
    mean, deviation = vocabulary_table(online_metrics(ap), class_metrics(ap), SHOWN)
    saved = save_table(
        mean,
        paper="oak",
        artifact="table_1",
        title="Known vocabulary",
        caption="AP50.",
        provenance=provenance_of(STREAM, scale="demo", notebook="21_oak_known_vocabulary"),
        deviation=deviation,
        better=dict.fromkeys(mean, "high"),
        units="%",
        outputs=tmp_path,
    )
    assert saved.table is not None
    assert saved.table.marks[-1][:2] == ["best", "best"] and saved.table.marks[0][:2] == ["worst", "worst"]
