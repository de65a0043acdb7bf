"""A browser for tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser; without one the test is skipped."""
    path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)} is on the path (apt-get install chromium)")
    return path


@pytest.fixture(scope="module")
def context(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser with a profile of its own."""
    profile: Path = tmp_path_factory.mktemp("browser")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=chromium, headless=True, args=FLAGS
        )
        yield opened
        opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A new tab."""
    opened = context.new_page()
    yield opened
    opened.close()
