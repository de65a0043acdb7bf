"""Methods by name, and their hyper-parameters."""

from __future__ import annotations

import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.methods import METHODS, make_method, method_config
from driftlab.methods.twp import TWP


def test_the_papers_methods_in_the_tables_order() -> None:
    assert list(METHODS) == ["BARE", "EWC", "MAS", "TWP", "LwF", "GEM", "REPLAY", "JOINT"]
    assert [method.name for method in METHODS.values()] == list(METHODS)


@pytest.mark.parametrize("name", list(METHODS))
def test_a_hyper_parameter_says_what_it_does_and_its_default_is_possible(name: str) -> None:
    for declared in METHODS[name].hyper_parameters.values():
        assert declared.meaning and declared.limit.problem(declared.default) == ""


@pytest.mark.parametrize(
    ("name", "hyper"),
    [
        ("BARE", {}),
        ("EWC", {"strength": 1e6}),
        ("MAS", {"strength": 100.0, "power": 2.0}),
        ("TWP", {"lambda_l": 1e4, "lambda_t": 1e4, "beta": 0.01, "power": 2.0}),
        ("LwF", {"lambda_dist": 1.0, "T": 2.0}),
        ("GEM", {"strength": 5.0, "fraction": 0.2}),
        ("REPLAY", {"fraction": 0.2}),
        ("JOINT", {}),
    ],
)
def test_table_3s_best_on_ucla_are_the_defaults(name: str, hyper: dict[str, float]) -> None:
    assert method_config(name) == {"name": name, **hyper}


def test_a_hyper_parameter_is_changed() -> None:
    config = method_config("GEM", strength=1)
    assert config == {"name": "GEM", "strength": 1.0, "fraction": 0.2}
    assert type(config["strength"]) is float, "1 and 1.0 are one run in the store"


@pytest.mark.parametrize(
    ("name", "hyper", "message"),
    [
        ("EWCC", {}, r"There is no method 'EWCC'\. Did you mean 'EWC'\? There are: BARE, EWC, MAS"),
        ("REPLY", {}, "Did you mean 'REPLAY'"),
        ("xyz", {}, r"There is no method 'xyz'\. There are: BARE"),
        (
            "LwF",
            {"lambda": 1.0},
            r"There is no hyper-parameter of LwF 'lambda'\. Did you mean 'lambda_dist'\?",
        ),
        ("TWP", {"betta": 1.0}, r"Did you mean 'beta'\? There are: lambda_l, lambda_t, beta, power\."),
        ("BARE", {"strength": 1.0}, r"There is no hyper-parameter of BARE 'strength'\. There are: none\."),
    ],
)
def test_unknown_names(name: str, hyper: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        method_config(name, **hyper)


def test_one_object_serves_replicas_with_different_hyper_parameters() -> None:
    configs = [method_config("TWP", beta=0.0), method_config("TWP", beta=0.1, lambda_l=7.0)]
    twp = make_method(configs, [3, 4], torch.device("cpu"))
    assert isinstance(twp, TWP) and twp.seeds == (3, 4)
    assert twp.hyper["beta"].tolist() == pytest.approx([0.0, 0.1])
    assert twp.hyper["lambda_l"].tolist() == [1e4, 7.0]
    assert twp.second_order and not make_method(configs[:1], [3], torch.device("cpu")).second_order


@pytest.mark.parametrize("name", list(METHODS))
def test_which_methods_begin_as_bare(name: str) -> None:
    assert METHODS[name].starts_bare(method_config(name)) == (name != "TWP")


@pytest.mark.parametrize(
    ("name", "hyper", "message"),
    [
        ("REPLAY", {"fraction": 0.0}, r"REPLAY's 'fraction' has to be above 0 and at most 1, not 0.0"),
        ("GEM", {"fraction": 1.5}, r"GEM's 'fraction' has to be above 0 and at most 1, not 1.5"),
        ("LwF", {"T": 0.0}, "LwF's 'T' has to be above 0, not 0.0"),
        ("EWC", {"strength": -1.0}, "EWC's 'strength' has to be at least 0, not -1.0"),
        ("TWP", {"power": 1.5}, "TWP's 'power' has to be 1 or 2, not 1.5"),
        ("MAS", {"strength": float("nan")}, "MAS's 'strength' has to be finite and at least 0, not nan"),
    ],
)
def test_impossible_values(name: str, hyper: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        method_config(name, **hyper)


def test_the_ends_of_what_is_possible() -> None:
    assert method_config("REPLAY", fraction=1.0)["fraction"] == 1.0
    assert method_config("TWP", beta=0.0)["beta"] == 0.0
