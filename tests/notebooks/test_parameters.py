"""The base of the parameter models: types, limits, and what is said of a wrong value."""

from typing import Annotated, Any

import pytest
from driftlab.core.errors import ParameterError
from driftlab.core.limits import Between, OneOf, SomeOf
from driftlab.notebooks.parameters import (
    NotebookParameters,
    check_values,
    limit_of,
    machine,
    meaning_of,
    protocol,
    question,
    type_words,
)
from pydantic import model_validator

Epochs = Annotated[int, protocol("passes"), Between(1)]


class Base(NotebookParameters):
    epochs: Epochs = 50
    rate: Annotated[float, protocol("step size")] = 0.1
    seed: Annotated[int | None, protocol("of the split"), Between(0)] = None
    jobs: Annotated[int, machine("processes")] = 0


class Model(Base):
    methods: Annotated[list[str], question("which"), SomeOf(["BARE", "EWC", "REPLAY"])] = ["BARE"]  # noqa: RUF012
    data: Annotated[str, question("where from"), OneOf(lambda: ["world", "nucla"])] = "world"
    epochs: Epochs = 30
    rate: Annotated[float, question("another meaning")] = 0.2

    @model_validator(mode="after")
    def _together(self) -> "Model":
        if self.data == "nucla" and self.epochs < 10:
            raise ValueError("nucla needs ten epochs")
        return self


def test_a_model_inherits_meaning_and_limit_and_has_its_own_default() -> None:
    assert Base.defaults()["epochs"] == 50 and Model.defaults()["epochs"] == 30
    field = Model.model_fields["epochs"]
    assert meaning_of(field) == protocol("passes") and limit_of(field) == Between(1)
    assert meaning_of(Model.model_fields["rate"]) == question("another meaning")
    assert limit_of(Model.model_fields["rate"]) is None


def test_defaults_are_copies() -> None:
    Model.defaults()["methods"].append("EWC")
    assert Model.defaults()["methods"] == ["BARE"]


def test_groups_are_in_order() -> None:
    assert Model.grouped() == {
        "question": ["rate", "methods", "data"],
        "protocol": ["epochs", "seed"],
        "machine": ["jobs"],
    }


@pytest.mark.parametrize(
    "values", [{}, {"rate": 1}, {"seed": 0}, {"seed": None}, {"methods": ["EWC", "BARE"]}, {"data": "nucla"}]
)
def test_possible_values(values: dict[str, Any]) -> None:
    check_values(Model, values, "41_x")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epocs": 5, "rate": "x"}, "no parameter 'epocs'. Did you mean 'epochs'? Its parameters: epo"),
        ({"zzz": 5}, "41_x has no parameter 'zzz'. Its parameters: epochs"),
        ({"epochs": "5"}, "'epochs' cannot be '5': it should be a whole number, as its default 30 is."),
        ({"epochs": 5.0}, "cannot be 5.0: it should be a whole number, as its default 30 is; write 5."),
        ({"epochs": 5.5}, "cannot be 5.5: it should be a whole number, as its default 30 is."),
        ({"epochs": True}, "cannot be True: it should be a whole number"),
        ({"epochs": 30.0}, "cannot be 30.0"),
        ({"epochs": 0}, "41_x's parameter 'epochs' has to be at least 1, not 0."),
        ({"rate": True}, "cannot be True: it should be a number, as its default 0.2 is."),
        ({"seed": "x"}, "cannot be 'x': it should be a whole number or null"),
        ({"seed": -1}, "has to be at least 0, not -1."),
        ({"methods": "BARE"}, "cannot be 'BARE': it should be a list of texts, as its default ['BARE'] is."),
        ({"methods": ["BARE", 3]}, "cannot be ['BARE', 3]"),
        ({"methods": ["RELPAY"]}, "out of BARE, EWC, REPLAY, not ['RELPAY']. Did you mean 'REPLAY'?"),
        ({"data": "nukla"}, "'data' has to be world or nucla, not 'nukla'. Did you mean 'nucla'?"),
        ({"data": "nucla", "epochs": 5}, "41_x: nucla needs ten epochs."),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_value(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        check_values(Model, values, "41_x", "file.yaml: ")
    assert str(error.value).startswith("file.yaml: 41_x")
    assert message in str(error.value)
    assert not str(error.value).endswith("?.")


def test_a_value_without_a_default_is_needed() -> None:
    class Needed(Base):
        name: Annotated[str, question("which")]

    with pytest.raises(ParameterError, match="A run's parameter 'name' is missing"):
        check_values(Needed, {}, "A run")


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "a whole number"),
        (list[int], "a list of whole numbers"),
        (int | None, "a whole number or null"),
        (dict[str, dict[str, list[float]]], "a mapping of names to mappings of names to lists of numbers"),
        (bool, "true or false"),
        (list[Any], "a list of values"),
    ],
)
def test_types_in_words(annotation: Any, words: str) -> None:
    assert type_words(annotation) == words
