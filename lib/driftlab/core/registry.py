"""Names that can be listed without importing what they name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


def import_object(place: str) -> Any:
    """The object at `place`.

    Args:
        place: Module and attribute, "driftlab.methods.ewc:EWC".
    """
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


class Registry(Mapping[str, T], Generic[T]):
    """A mapping of names to objects, each of which is imported when it is first looked up.

    Listing the names imports nothing: a misspelt method is refused without importing PyTorch.

    Args:
        places: For each name, module and attribute: `{"EWC": "driftlab.methods.ewc:EWC"}`. Their order is
            kept.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> T:
        return cast(T, import_object(self._places[name]))

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
