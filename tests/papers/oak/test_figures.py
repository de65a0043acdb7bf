"""What Wanderlust's figures show: the drawn numbers, units, labels and shading."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.forgetfulness import exposure, forgetting_curve
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
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*METHODS, "stream shows the class"]
    assert figure.axes[0].get_ylabel() == "AP50 (%)"
    assert not texts_overlap(figure)


def test_all_panels_reach_to_the_highest_value(exposed: pd.DataFrame) -> None:
    figure = figures.classes_over_time(exposed, ["kiosk", "car"])
    for axis in figure.axes:
        assert axis.get_ylim()[0] == 0
        assert axis.get_ylim()[1] >= 100 * exposed.loc[exposed["class"] == "car", "value"].max()


def test_the_classes_that_come_and_go_are_chosen_by_their_peak() -> None:
    def rows(name: str, *times: tuple[float, float | None]) -> list[dict[str, object]]:
        return [
            {"class": name, "trained_on": 5 * k, "value": ap, "since": since, "seen": since == 0}
            for k, (ap, since) in enumerate(times)
        ]

    always = rows("always", (0.9, 0.0), (0.9, 0.0))
    early = rows("early", (0.8, None), (0.2, 0.0))
    best = rows("best", (0.1, None), (0.5, 0.0), (0.2, 5.0))
    worse = rows("worse", (0.3, 0.0), (0.4, 5.0))
    exposed = pd.DataFrame(always + early + best + worse)
    assert figures.changing_classes(exposed, 3) == ["best", "worse", "always"]
    assert figures.changing_classes(exposed) == ["best", "worse", "always", "early"]


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
    with pytest.raises(ParameterError, match=r"classes of awning, bag, booth, car.*; not ghost"):
        figures.classes_over_time(exposed, ["car", "ghost"])
    with pytest.raises(ParameterError, match="; not none"):
        figures.classes_over_time(exposed, [])


def test_forgetting_over_time() -> None:
    values = {("car", 0): 0.8, ("car", 1): 0.6, ("bag", 0): 0.4, ("bag", 1): 0.3, ("bag", 2): 0.1}
    curve = pd.DataFrame(
        [
            {"class": name, "bin": k, "since": 5 * k, "value": value, "evaluations": 1}
            for (name, k), value in values.items()
        ]
    ).assign(paper="oak", variant="oak/small/known", method="EWC", seed=0, order="")
    figure = figures.forgetting_over_time(curve)
    left, right = figure.axes
    # Bins of five steps, drawn at their middle.
    x, y = line(left, "EWC")
    assert x == [2, 7, 12]
    assert y == pytest.approx([60, 45, 10])
    assert line(right, "EWC")[1] == pytest.approx([0, -15, -30])
    assert [text.get_text() for text in right.texts] == ["2", "2", "1"]
    assert right.get_title(loc="right") == "classes in the mean"
    assert left.get_xlabel() == "steps since the stream showed the class (bins of 5)"
    assert left.get_ylabel().endswith("(%)") and right.get_ylabel().endswith("(points)")


def test_forgetting_of_a_whole_experiment(exposed: pd.DataFrame) -> None:
    some = exposed[exposed["method"].isin(["Incremental", "EWC", "iCaRL"])]
    for width in (1, 5, 200):
        figure = figures.forgetting_over_time(forgetting_curve(some, width=width))
        assert not texts_overlap(figure)
        counts = figure.axes[1].texts
        assert 1 <= len(counts) <= 16
        places = [text.get_position()[0] for text in counts]
        assert places == sorted(places)


def test_variants_may_not_be_mixed(table: pd.DataFrame) -> None:
    mixed = pd.concat([table, table.assign(variant="oak/r50/known")])
    exposed = exposure(mixed)
    with pytest.raises(ParameterError, match="figure is about one variant"):
        figures.cap_over_time(cap_curve(class_ap(mixed)))
    with pytest.raises(ParameterError, match="figure is about one variant"):
        figures.classes_over_time(exposed, ["car"])
    with pytest.raises(ParameterError, match="figure is about one variant"):
        figures.forgetting_over_time(forgetting_curve(exposed))


def test_pictures_are_small(exposed: pd.DataFrame) -> None:
    stream = io.BytesIO()
    figures.classes_over_time(exposed, CLASSES[:9]).savefig(stream, format="png")
    assert stream.getbuffer().nbytes < 500_000
