"""Names that are listed without importing what they name."""

import subprocess
import sys

import pytest
from driftlab.core.registry import Registry
from driftlab.methods import METHODS
from driftlab.models.registry import BACKBONES, DETECTORS
from driftlab.papers.oak.methods import ONLINE


def test_an_object_is_imported_when_it_is_looked_up() -> None:
    registry: Registry[object] = Registry({"two": "fractions:Fraction", "one": "no_such_module:X"})
    assert list(registry) == ["two", "one"] and len(registry) == 2
    assert "one" in registry and "three" not in registry, "nothing is imported"
    from fractions import Fraction

    assert registry["two"] is Fraction
    with pytest.raises(ModuleNotFoundError):
        registry["one"]
    with pytest.raises(KeyError):
        registry["three"]
    assert registry.get("three") is None


@pytest.mark.parametrize("registry", [METHODS, BACKBONES, DETECTORS, ONLINE])
def test_every_place_of_the_projects_registries_exists(registry: Registry[object]) -> None:
    assert registry and all(callable(registry[name]) for name in registry)


def test_names_are_listed_without_pytorch() -> None:
    code = (
        "import sys\n"
        "from driftlab.methods import METHODS\n"
        "from driftlab.models.registry import BACKBONES, DETECTORS\n"
        "from driftlab.papers.oak.methods import METHODS as STREAM\n"
        "assert 'EWC' in METHODS and 'gcn' in BACKBONES and 'small' in DETECTORS and 'iCaRL' in STREAM\n"
        "print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
