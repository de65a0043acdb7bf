"""Colours, markers and panels."""

from __future__ import annotations

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from driftlab.reporting.printed_papers import paper, paper_keys, papers
from driftlab.reporting.style import in_order, method_style, outer_labels, panels, styled
from matplotlib.colors import to_rgb


@pytest.mark.parametrize("key", paper_keys())
def test_every_method_of_a_paper_has_a_colour_and_a_marker_of_its_own(key: str) -> None:
    methods = [method.name for method in paper(key).methods]
    assert in_order(reversed(methods)) == methods
    styles = [method_style(name) for name in methods]
    assert len({style.marker for style in styles}) == len(styles)
    for first, second in combinations(styles, 2):
        apart = np.abs(np.subtract(to_rgb(first.colour), to_rgb(second.colour))).max()
        assert apart > 0.2, (first, second)


def test_a_method_of_two_papers_looks_alike_in_both() -> None:
    styles: dict[str, set[tuple[str, str, str]]] = {}
    for one in papers():
        for method in one.methods:
            styles.setdefault(method.name, set()).add((method.colour, method.marker, method.line))
    assert {name for name, own in styles.items() if len(own) > 1} == set()


def test_a_new_method_gets_a_spare_style_that_no_other_method_has_and_that_stays() -> None:
    new = method_style("DER")
    assert new == method_style("DER")
    listed = [method for one in papers() for method in one.methods]
    assert new.colour not in {method.colour for method in listed}
    assert new.marker not in {method.marker for method in listed}


def test_order_of_methods() -> None:
    assert in_order(["REPLAY", "DER", "BARE", "AGEM", "BARE"]) == ["BARE", "REPLAY", "AGEM", "DER"]


def test_the_style_is_left_as_it_was() -> None:
    before = dict(matplotlib.rcParams)
    seen = []
    styled(lambda: seen.append(matplotlib.rcParams["axes.spines.top"]))()
    assert seen == [False]
    assert dict(matplotlib.rcParams) == before


def test_panels_and_outer_labels() -> None:
    figure, axes = panels(7, size=(2, 2))
    assert len(axes) == len(figure.axes) == 7
    outer_labels(axes, "x", "y")
    assert [axis.get_ylabel() for axis in axes] == ["y", "", "", "", "y", "", ""]
    # The fourth panel has none below it.
    assert [axis.get_xlabel() for axis in axes] == ["", "", "", "x", "x", "x", "x"]
    assert len(panels(1, size=(2, 2))[1]) == 1
