"""The room's walls: metrics know the evaluation table and the errors, and no other room."""

from __future__ import annotations

import ast
from pathlib import Path

import driftlab.metrics

ALLOWED = ("driftlab.core.errors", "driftlab.core.evaluation_table", "driftlab.metrics")


def test_metrics_import_no_other_room() -> None:
    files = sorted(Path(driftlab.metrics.__file__).parent.glob("*.py"))
    assert len(files) >= 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert not name.startswith("driftlab") or name.startswith(ALLOWED), f"{file.name}: {name}"
