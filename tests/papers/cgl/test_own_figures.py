"""Our own figures beside the paper's: the drawn numbers, units and labels."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.accuracy_matrix import task_accuracy
from driftlab.metrics.order import order_sensitivity
from driftlab.papers.cgl import own_figures as figures
from driftlab.reporting.style import method_style
from matplotlib.figure import Figure
from reporting.looking import texts_overlap
from reporting.plausible import KEEPS, plausible_table, task_orders

SHOWN = ["BARE", "LwF", "REPLAY"]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return plausible_table(task_orders(4), methods=SHOWN, seeds=2)


@pytest.fixture(scope="module")
def accuracy(table: pd.DataFrame) -> pd.DataFrame:
    return task_accuracy(table)


def titles(figure: Figure) -> list[str]:
    return [axis.get_title() for axis in figure.axes if axis.get_title()]


def test_learning_curves(accuracy: pd.DataFrame) -> None:
    figure = figures.learning_curves(accuracy)
    assert titles(figure) == ["all methods, mean", "BARE (8 runs)", "LwF (8 runs)", "REPLAY (8 runs)"]
    line = figure.axes[0].get_lines()[2]
    final_task = accuracy[(accuracy["trained_on"] == 5) & (accuracy["method"] == "REPLAY")]
    assert line.get_label() == "REPLAY" and line.get_color() == method_style("REPLAY").colour
    assert np.asarray(line.get_xdata()).tolist() == [1, 2, 3, 4, 5]
    assert np.asarray(line.get_ydata())[-1] == pytest.approx(100 * final_task["value"].mean())
    assert figure.axes[0].get_ylabel() == "average accuracy AA (%)"
    assert not texts_overlap(figure)


def test_accuracy_matrices(accuracy: pd.DataFrame) -> None:
    figure = figures.accuracy_matrices(accuracy)
    bare = accuracy[accuracy["method"] == "BARE"]
    expected = 100 * bare[(bare["trained_on"] == 3) & (bare["task"] == 2)]["value"].mean()
    image = np.ma.filled(figure.axes[0].get_images()[0].get_array(), np.nan)
    assert image.shape == (5, 5)
    assert image[2, 1] == pytest.approx(expected)
    assert np.isnan(image[0, 1])
    assert len(figure.axes[0].texts) == 15
    assert not texts_overlap(figure)


@pytest.mark.parametrize("unit", ["task", "class"])
def test_sensitivity_bars(table: pd.DataFrame, unit: Literal["task", "class"]) -> None:
    sensitivity = order_sensitivity(table, by=unit)
    names = {str(label): f"a long action name {label}" for label in range(10)}
    figure = figures.sensitivity_bars(sensitivity, unit=unit, names=names if unit == "class" else None)
    replay = sensitivity[sensitivity["method"] == "REPLAY"]
    means = 100 * replay.groupby("unit")["opd"].mean()
    bars = [patch.get_width() for patch in figure.axes[2].patches]  # type: ignore[attr-defined]
    assert bars == pytest.approx(means.tolist())
    assert titles(figure)[2] == f"REPLAY, AOPD {means.mean():.1f}"
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[1] == {"task": "2-3", "class": "a long action name 1"}[unit]
    assert not texts_overlap(figure)


def test_bars_without_repetitions_have_no_whiskers(table: pd.DataFrame) -> None:
    once = order_sensitivity(table[table["seed"] == 0], by="task")
    twice = order_sensitivity(table, by="task")
    assert not figures.sensitivity_bars(once, unit="task").axes[0].collections
    assert figures.sensitivity_bars(twice, unit="task").axes[0].collections


def test_variants_may_not_be_mixed(accuracy: pd.DataFrame) -> None:
    mixed = pd.concat([accuracy, accuracy.assign(variant="nucla/stgcn")])
    with pytest.raises(ParameterError, match="one variant; these runs are of: nucla/gcn, nucla/stgcn"):
        figures.learning_curves(mixed)


def test_all_eight_methods_fit() -> None:
    accuracy = task_accuracy(plausible_table(task_orders(2), methods=list(KEEPS)))
    assert not texts_overlap(figures.learning_curves(accuracy))
