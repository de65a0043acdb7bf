from __future__ import annotations

import json
from pathlib import Path

import pytest
from driftlab.core.errors import MissingDataError
from driftlab.data.detection import voc
from driftlab.data.detection.voc import load_voc
from driftlab.worlds.walk.static_images import static_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return static_world(tmp_path_factory.mktemp("voc") / "world", images=3)


@pytest.fixture
def real(world: Path, tmp_path: Path) -> Path:
    """The world's files with VOC's names, and without the mark of a world."""
    content = json.loads((world / "instances.json").read_text())
    by_oak = {oak: name for name, oak in voc.OAK_NAMES.items()}
    for record in content["categories"]:
        record["name"] = by_oak.get(record["name"], record["name"])
    (tmp_path / "instances.json").write_text(json.dumps(content))
    (tmp_path / "images").symlink_to(world / "images")
    return tmp_path


def test_categories_are_named_as_oak_names_them(real):
    text = (real / "instances.json").read_text()
    assert "pottedplant" in text and "diningtable" in text
    given = load_voc(real)
    assert "potted plant" in given.categories and "dining table" in given.categories
    assert not set(given.categories) & set(voc.OAK_NAMES)


def test_official_only_if_complete(real, world, monkeypatch):
    assert load_voc(real).source.kind == "subset"
    monkeypatch.setattr(voc, "TOTALS", {"pictures": 3, "categories": 8})
    assert load_voc(real).source.kind == "official"
    assert load_voc(world).source.kind == "synthetic"


def test_a_folder_without_data_says_what_to_get(tmp_path):
    with pytest.raises(MissingDataError, match=r"no VOC annotations here\. Get .*host\.robots\.ox\.ac\.uk"):
        load_voc(tmp_path)
