"""What the paper's figures show: the drawn numbers, units and labels."""

from __future__ import annotations

import io
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.accuracy_matrix import final_metrics, task_accuracy
from driftlab.papers.cgl import figures
from driftlab.reporting.style import method_style
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from reporting.looking import texts_overlap
from reporting.plausible import METHODS, class_orders, plausible_table, task_orders

SHOWN = ["BARE", "LwF", "REPLAY"]


@pytest.fixture(scope="module")
def final() -> pd.DataFrame:
    return final_metrics(task_accuracy(plausible_table(task_orders(4), methods=SHOWN, seeds=2)))


@pytest.fixture(scope="module")
def over_classes() -> pd.DataFrame:
    return final_metrics(task_accuracy(plausible_table(class_orders(3), methods=SHOWN, seeds=2)))


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_point_is_an_orders_mean_over_repetitions(final: pd.DataFrame) -> None:
    figure = figures.forgetting_scatter(final, title="(a) UCLA-CIL, GCN")
    (axis,) = figure.axes
    assert axis.get_title() == "(a) UCLA-CIL, GCN"
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("average accuracy AA (%)", "average forgetting AF (%)")
    points = np.asarray(axis.collections[2].get_offsets())
    replay = final[final["method"] == "REPLAY"].groupby("order")[["average_accuracy", "average_forgetting"]]
    assert points == pytest.approx(100 * replay.mean().to_numpy())
    assert to_hex(axis.collections[2].get_facecolor()[0]) == method_style("REPLAY").colour
    assert labels(figure) == ["BARE (4)", "LwF (4)", "REPLAY (4)", "ceiling of AF (Eq. 10)"]
    assert figure.legends[0].get_title().get_text() == "orders per method"
    assert not texts_overlap(figure)


def test_a_point_can_be_a_single_run(final: pd.DataFrame) -> None:
    figure = figures.forgetting_scatter(final, single_runs=True)
    points = np.asarray(figure.axes[0].collections[0].get_offsets())
    bare = final[final["method"] == "BARE"]
    assert points == pytest.approx(100 * bare[["average_accuracy", "average_forgetting"]].to_numpy())
    assert labels(figure)[0] == "BARE (8)"
    assert figure.legends[0].get_title().get_text() == "runs per method"


def test_the_ceiling_is_eq_10_clipped_at_1_dotted_and_green(final: pd.DataFrame) -> None:
    figure = figures.forgetting_scatter(final)
    (line,) = figure.axes[0].get_lines()
    # k = 5: through (0.2, 1) and (1, 0); flat below AA = 0.2
    assert np.asarray(line.get_xydata()).ravel().tolist() == pytest.approx([0, 100, 20, 100, 100, 0])
    assert line.get_linestyle() == ":"
    red, green, blue = (int(line.get_color()[i : i + 2], 16) for i in (1, 3, 5))
    assert green > max(red, blue)
    points = np.concatenate([np.asarray(cloud.get_offsets()) for cloud in figure.axes[0].collections])
    assert (points[:, 1] <= np.minimum(100, 125 - 1.25 * points[:, 0]) + 1e-9).all()


def test_class_orders_are_open_markers(final: pd.DataFrame, over_classes: pd.DataFrame) -> None:
    figure = figures.forgetting_scatter(final, over_classes)
    filled, hollow = figure.axes[0].collections[:2]
    assert len(filled.get_facecolor()) == 1 and len(hollow.get_facecolor()) == 0
    bare = over_classes[over_classes["method"] == "BARE"].groupby("order")
    expected = 100 * bare[["average_accuracy", "average_forgetting"]].mean().to_numpy()
    assert np.asarray(hollow.get_offsets()) == pytest.approx(expected)
    assert labels(figure)[0] == "BARE (4 + 3)"
    assert labels(figure)[3:5] == ["filled: task orders", "open: class orders"]
    assert not texts_overlap(figure)


def test_scatter_needs_one_number_of_tasks(final: pd.DataFrame) -> None:
    short = final.assign(trained_on=final["trained_on"].where(final["seed"] == 0, 4))
    with pytest.raises(ParameterError, match="one number of tasks, at least two; these runs have"):
        figures.forgetting_scatter(short)


def test_variants_may_not_be_mixed(final: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="one variant; these runs are of: nucla/gcn, nucla/stgcn"):
        figures.forgetting_scatter(final, final.assign(variant="nucla/stgcn"))
    with pytest.raises(ParameterError, match="these runs are of: none"):
        figures.forgetting_scatter(final.iloc[:0])


@pytest.mark.parametrize("setting", ["width", "depth"])
def test_architecture_curves(final: pd.DataFrame, setting: Literal["width", "depth"]) -> None:
    runs = pd.concat([final.assign(**{setting: 64}), final.assign(**{setting: 8})])
    runs.loc[runs[setting] == 8, "average_accuracy"] /= 2
    figure = figures.architecture_curves(runs, setting=setting)
    line = figure.axes[0].containers[2].lines[0]  # type: ignore[attr-defined]
    mean = 100 * final[final["method"] == "REPLAY"]["average_accuracy"].mean()
    assert line.get_ydata() == pytest.approx([mean / 2, mean])
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["8", "64"]
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["(a)", "(b)"]
    assert [axis.get_ylabel() for axis in figure.axes] == [
        "average accuracy AA (%)",
        "average forgetting AF (%)",
    ]
    assert setting in figure.axes[0].get_xlabel()
    assert not texts_overlap(figure)


def test_the_whiskers_are_the_deviation_over_repetitions(final: pd.DataFrame) -> None:
    figure = figures.architecture_curves(final.assign(width=64), setting="width")
    (bars,) = figure.axes[0].containers[0].lines[2]  # type: ignore[attr-defined]
    low, high = bars.get_segments()[0][:, 1]
    per_seed = 100 * final[final["method"] == "BARE"].groupby("seed")["average_accuracy"].mean()
    assert (high - low) / 2 == pytest.approx(per_seed.std(ddof=1))


def test_the_size_of_the_paper_fits() -> None:
    runs = final_metrics(task_accuracy(plausible_table(task_orders(120), methods=METHODS)))
    random = final_metrics(task_accuracy(plausible_table(class_orders(100), methods=METHODS)))
    figure = figures.forgetting_scatter(runs, random)
    assert not texts_overlap(figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    assert stream.getbuffer().nbytes < 500_000
