"""What a notebook's kernel shows: figures as pictures, progress as a bar or as lines."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel
from PIL import Image

Run = Callable[..., list[dict[str, Any]]]
FIGURE = (
    "from matplotlib.figure import Figure\nfigure = Figure(figsize=(3, 2), dpi=50)\nfigure.subplots()\nfigure"
)
PROGRESS = """
import driftlab.core.progress
driftlab.core.progress.LINE_EVERY = 0
shown = driftlab.core.progress.Progress(3, "cgl")
for _ in range(3):
    shown.advance(computed=1)
shown.close()
"""


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Executes cells in one kernel, as a front end for people does; gives the messages that it showed."""
    manager, client = start_new_kernel(kernel_name="python3")

    def execute(code: str, *, watched: bool = True) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        reply = client.execute_interactive(
            code, allow_stdin=watched, timeout=120, output_hook=messages.append, stdin_hook=messages.append
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        return messages

    yield execute
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def pictures(messages: list[dict[str, Any]]) -> list[Image.Image]:
    shown = [message["content"]["data"] for message in messages if "data" in message["content"]]
    return [
        Image.open(io.BytesIO(base64.b64decode(forms["image/png"])))
        for forms in shown
        if "image/png" in forms
    ]


def stderr(messages: list[dict[str, Any]]) -> str:
    return "".join(m["content"]["text"] for m in messages if m["content"].get("name") == "stderr")


def test_a_bare_figure_is_a_picture_once_the_project_is_imported(run: Run) -> None:
    assert pictures(run(FIGURE)) == [], "a kernel by itself shows it as text"
    run("import driftlab.reporting.style")
    (picture,) = pictures(run(FIGURE))
    assert picture.format == "PNG" and picture.width > 100


def test_a_watched_notebook_has_a_bar_that_is_a_widget_and_nothing_on_the_error_stream(run: Run) -> None:
    messages = run(PROGRESS)
    widgets = [
        m for m in messages if "application/vnd.jupyter.widget-view+json" in m["content"].get("data", {})
    ]
    assert len(widgets) == 1
    assert stderr(messages) == ""


def test_a_headless_notebook_has_lines(run: Run) -> None:
    lines = stderr(run(PROGRESS, watched=False)).splitlines()
    assert lines[0].startswith("cgl: 1 of 3 stages after 0 s")
    assert lines[-1].startswith("cgl: 3 of 3 stages after 0 s") and len(lines) == 4
