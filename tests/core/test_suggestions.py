"""The nearest known name to a mistyped one."""

from __future__ import annotations

import pytest
from driftlab.core.errors import ParameterError
from driftlab.core.suggestions import did_you_mean, look_up, nearest

NAMES = ["epochs", "seeds", "Replay"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [("epoch", "epochs"), ("SEED", "seeds"), ("replay", "Replay"), ("zzz", None), ("", None)],
)
def test_nearest_ignores_case_and_gives_up(typed: str, name: str | None) -> None:
    assert nearest(typed, NAMES) == name


def test_a_cutoff_of_one_wants_the_name_itself() -> None:
    assert nearest("epoch", NAMES, cutoff=1.0) is None
    assert nearest("EPOCHS", NAMES, cutoff=1.0) == "epochs"


def test_the_sentence_is_empty_where_nothing_is_near() -> None:
    assert did_you_mean("epoch", NAMES) == "Did you mean 'epochs'? "
    assert did_you_mean("zzz", NAMES) == ""
    assert did_you_mean("epochs", []) == ""


def test_look_up_returns_the_value_or_says_what_there_is() -> None:
    assert look_up("a", {"a": 1}, "letter") == 1
    with pytest.raises(ParameterError) as error:
        look_up("alpa", {"alpha": 1, "beta": 2}, "letter")
    assert str(error.value) == "There is no letter 'alpa'. Did you mean 'alpha'? There are: alpha, beta."
    with pytest.raises(ParameterError, match=r"There is no letter 'a'\. There are: none\."):
        look_up("a", {}, "letter")
