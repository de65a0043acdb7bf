"""JupyterLab on loopback with a token, without the user's configuration."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTINGS = {
    # All cells stay in the page, also those that are scrolled out of sight.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


@contextmanager
def jupyter_lab(folder: Path, home: Path, environment: dict[str, str]) -> Iterator[str]:
    """Start a server in a folder.

    Args:
        folder: What it shows.
        home: An empty folder for its settings and its log.
        environment: Variables for server and kernels, in addition to the process's own.

    Yields:
        The address of a notebook in a workspace of its own, with `{name}` in the place of its name.
    """
    for name, values in SETTINGS.items():
        file = home / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values))
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    variables = os.environ | environment | {name: str(home / place) for name, place in places.items()}
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--notebook-dir={folder}"]
    options = ["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--IdentityProvider.token={token}"]
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen([*command, *options], env=variables, stdout=log, stderr=log)
    try:
        port = _port(server, home)
        yield f"http://127.0.0.1:{port}/lab/workspaces/{{name}}/tree/{{name}}.ipynb?token={token}"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _port(server: subprocess.Popen[bytes], home: Path) -> int:
    """The port that the server has chosen, once it listens."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        for file in (home / "runtime").glob("jpserver-*.json"):
            if (text := file.read_text()) and json.loads(text)["port"]:
                return int(json.loads(text)["port"])
        time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start:\n{(home / 'server.log').read_text()}")
