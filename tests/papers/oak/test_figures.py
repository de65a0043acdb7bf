"""What Wanderlust's figures show: the drawn numbers, units, labels and shading."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.forgetfulness import exposure
from driftlab.metrics.stream_precision import cap_curve, class_ap
from driftlab.papers.oak import figures
from driftlab.reporting.style import method_style
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from reporting.looking import texts_overlap

from .plausible_stream import CLASSES, METHODS, presence, stream_table


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return stream_table(seeds=2)


@pytest.fixture(scope="module")
def exposed(table: pd.DataFrame) -> pd.DataFrame:
    return exposure(table)


def line(axis: Axes, name: str) -> tuple[list[float], list[float]]:
    """x and y of a method's line."""
    (found,) = (one for one in axis.get_lines() if one.get_label() == name)
    assert found.get_color() == method_style(name).colour
    return np.asarray(found.get_xdata()).tolist(), np.asarray(found.get_ydata()).tolist()


def shaded(axis: Axes) -> list[tuple[float, float]]:
    spans = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
    return [(float(one.get_x()), float(one.get_x() + one.get_width())) for one in spans]


def test_cap_over_time(table: pd.DataFrame) -> None:
    curve = cap_curve(class_ap(table))
    figure = figures.cap_over_time(curve)
    (axis,) = figure.axes
    icarl = curve[curve["method"] == "iCaRL"].groupby("trained_on")["value"].mean()
    x, y = line(axis, "iCaRL")
    assert x == icarl.index.tolist()
    assert y == pytest.approx((100 * icarl).tolist())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == METHODS
    assert axis.get_xlabel() == "steps of the stream learnt" and "(%)" in axis.get_ylabel()
    assert axis.collections  # the range over the two repetitions
    assert not texts_overlap(figure)


def test_cap_over_time_of_one_repetition_has_no_range(table: pd.DataFrame) -> None:
    curve = cap_curve(class_ap(table[table["seed"] == 0]))
    assert not figures.cap_over_time(curve).axes[0].collections


def test_classes_over_time(exposed: pd.DataFrame) -> None:
    shown = ["car", "dining table", "booth", "bag"]
    figure = figures.classes_over_time(exposed, shown)
    assert [axis.get_title() for axis in figure.axes] == shown
    bag = exposed[(exposed["class"] == "bag") & (exposed["method"] == "EWC")]
    x, y = line(figure.axes[3], "EWC")
    assert x[:3] == [0, 5, 10]
    assert y == pytest.approx((100 * bag.groupby("trained_on")["value"].mean()).tolist())
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["Incremental", "EWC", "iCaRL", "stream shows the class"]
    assert figure.axes[0].get_ylabel() == "AP50 (%)"
    assert not texts_overlap(figure)


def test_other_methods_can_be_drawn(exposed: pd.DataFrame) -> None:
    figure = figures.classes_over_time(exposed, ["car"], methods=METHODS)
    assert [text.get_text() for text in figure.legends[0].get_texts()][:-1] == METHODS


def test_a_rare_class_is_not_flattened_by_a_frequent_one(exposed: pd.DataFrame) -> None:
    scaled = exposed.assign(value=exposed["value"].where(exposed["class"] != "kiosk", exposed["value"] / 8))
    kiosk, car = figures.classes_over_time(scaled, ["kiosk", "car"]).axes
    for axis, name in ((kiosk, "kiosk"), (car, "car")):
        rows = scaled[(scaled["class"] == name) & scaled["method"].isin(["Incremental", "EWC", "iCaRL"])]
        top = axis.get_ylim()[1]
        assert axis.get_ylim()[0] == 0 and top >= 100 * rows["value"].max()
        assert top <= max(6, 115 * rows["value"].max())
    assert car.get_ylim()[1] > 3 * kiosk.get_ylim()[1]


def test_bands_are_the_range_of_the_repetitions(exposed: pd.DataFrame) -> None:
    assert figures.classes_over_time(exposed, ["car"]).axes[0].collections
    one = exposed[exposed["seed"] == 0]
    assert not figures.classes_over_time(one, ["car"]).axes[0].collections


def test_shading_is_where_the_stream_shows_the_class(exposed: pd.DataFrame) -> None:
    figure = figures.classes_over_time(exposed, ["dining table"])
    column = presence()[:, CLASSES.index("dining table")]
    inside = np.zeros(len(column), dtype=bool)
    for start, end in shaded(figure.axes[0]):
        inside[int(start) : int(end)] = True
    # An interval of five steps between evaluations is shaded if any of its steps shows the class.
    assert inside.reshape(-1, 5).all(axis=1).tolist() == column.reshape(-1, 5).any(axis=1).tolist()
    assert not inside.all() and inside.any()


def test_shading_follows_the_run_that_is_evaluated_most_often(exposed: pd.DataFrame) -> None:
    rare = exposed[(exposed["method"] != "Offline training") | (exposed["trained_on"] == 120)]
    rare = rare.assign(seen=rare["seen"] | (rare["method"] == "Offline training"))
    found, expected = (figures.classes_over_time(frame, ["booth"]) for frame in (rare, exposed))
    assert shaded(found.axes[0]) == shaded(expected.axes[0])


def test_without_training_nothing_is_shaded(exposed: pd.DataFrame) -> None:
    still = exposed[exposed["method"] == "Non-adaptation"]
    assert not shaded(figures.classes_over_time(still, ["car"]).axes[0])


def test_unknown_classes_are_named(exposed: pd.DataFrame) -> None:
    with pytest.raises(
        ParameterError, match=r"Figure 7 shows classes of awning, bag, booth, car.*; not ghost"
    ):
        figures.classes_over_time(exposed, ["car", "ghost"])
    with pytest.raises(ParameterError, match="; not none"):
        figures.classes_over_time(exposed, [])


def gaps(values: dict[float, float], method: str = "EWC", name: str = "car") -> pd.DataFrame:
    """Five evaluations of a class at each gap, with the given AP."""
    rows = [(since, value) for since, value in values.items() for _ in range(5)]
    frame = pd.DataFrame(rows, columns=["since", "value"])
    frame["trained_on"] = np.arange(len(frame)) + 100
    return frame.assign(
        **{"class": name}, method=method, paper="oak", variant="oak/small/known", seed=0, order=""
    )


def test_forgetting_by_class() -> None:
    exposed = pd.concat(
        [gaps({0: 0.8, 10: 0.6, 30: 0.3}), gaps({0: 0.2, 10: 0.25, 30: 0.15}, method="iCaRL")]
    )
    above, below = figures.forgetting_by_class(exposed, ["car"]).axes
    assert above.get_title() == "car"
    assert line(above, "EWC") == ([0, 10, 30], pytest.approx([0, 20, 50]))
    assert line(above, "iCaRL")[1] == pytest.approx([0, -5, 5])
    assert line(below, "EWC")[1] == pytest.approx([80, 60, 30])
    assert above.get_ylabel() == "forgotten so far\n(points of AP50)"
    assert below.get_xlabel() == "steps since last seen"


def test_no_bin_has_fewer_than_five_evaluations() -> None:
    # Two evaluations at a gap of 40 are no bin of their own.
    rare = gaps({0: 0.8, 10: 0.6, 40: 0.1})
    rare = rare[(rare["since"] < 40) | (rare["trained_on"] >= 113)]
    above, _ = figures.forgetting_by_class(rare, ["car"]).axes
    x, _ = line(above, "EWC")
    assert len(x) == 2 and x[0] == 0 and x[1] == pytest.approx((5 * 10 + 2 * 40) / 7)
    few = figures.forgetting_by_class(gaps({0: 0.8}), ["car"]).axes[0]
    assert not few.get_lines() and few.texts[0].get_text() == "fewer than two bins\nof 5 evaluations"


def test_small_differences_are_not_blown_up() -> None:
    above, below = figures.forgetting_by_class(gaps({0: 0.05, 10: 0.049, 30: 0.051}), ["car"]).axes
    assert above.get_ylim()[1] - above.get_ylim()[0] >= 6
    assert below.get_ylim() == (0, 6)


def test_forgetting_of_a_whole_experiment(exposed: pd.DataFrame) -> None:
    shown = ["booth", "umbrella", "awning", "bag", "chair", "dining table", "fireplug", "car", "kiosk"]
    figure = figures.forgetting_by_class(exposed, shown)
    assert len(figure.axes) == 18, "an upper and a lower panel for each class"
    assert [axis.get_title() for axis in figure.axes if axis.get_title()] == shown
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Incremental", "EWC", "iCaRL"]
    assert not texts_overlap(figure)


def test_unknown_sample_classes_are_named(exposed: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match=r"Figure 8 shows classes of .*; not ghost"):
        figures.forgetting_by_class(exposed, ["ghost"])


def test_variants_may_not_be_mixed(table: pd.DataFrame) -> None:
    mixed = pd.concat([table, table.assign(variant="oak/r50/known")])
    exposed = exposure(mixed)
    with pytest.raises(ParameterError, match="figure is about one variant"):
        figures.cap_over_time(cap_curve(class_ap(mixed)))
    with pytest.raises(ParameterError, match="figure is about one variant"):
        figures.classes_over_time(exposed, ["car"])
    with pytest.raises(ParameterError, match="figure is about one variant"):
        figures.forgetting_by_class(exposed, ["car"])


def test_pictures_are_small(exposed: pd.DataFrame) -> None:
    stream = io.BytesIO()
    figures.classes_over_time(exposed, CLASSES[:9]).savefig(stream, format="png")
    assert stream.getbuffer().nbytes < 500_000
