"""What a reader is spared."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
from driftlab.notebooks.hush import NOTICES, hush


def test_notices_are_silent_here_and_in_processes_that_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "default::ResourceWarning")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hush()
        hush()
        for notice in NOTICES:
            warnings.warn(f"{notice}. And so on.", FutureWarning, stacklevel=1)
        warnings.warn("something else", FutureWarning, stacklevel=1)
    assert [str(one.message) for one in caught] == ["something else"]
    code = f"import warnings; [warnings.warn(n + '!', FutureWarning) for n in (*{NOTICES!r}, 'else')]"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert "else!" in said and not any(notice in said for notice in NOTICES)
