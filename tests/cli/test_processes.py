"""Finding and ending a process tree, also where its members lost their parents."""

import subprocess
import sys
from pathlib import Path

from driftlab.cli.processes import ProcessTree

from .driving import is_alive, wait_until

# Starts a child in the same session, says its number, and dies at once.
DYING = """\
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
"""


def test_an_orphan_is_found_by_the_session_that_its_parent_left() -> None:
    root = subprocess.Popen(
        [sys.executable, "-c", "input()\n" + DYING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    tree = ProcessTree(root.pid)
    tree.look()
    assert root.stdin is not None and root.stdout is not None
    root.stdin.write("now\n")
    root.stdin.flush()
    orphan = int(root.stdout.readline())
    root.wait()
    assert is_alive(orphan)

    tree.kill()

    assert wait_until(lambda: not is_alive(orphan))


def test_a_child_in_a_session_of_its_own_is_found_once_seen(tmp_path: Path) -> None:
    code = DYING.replace('600)"])', '600)"], start_new_session=True)') + "import time; time.sleep(60)"
    root = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    tree = ProcessTree(root.pid)
    assert root.stdout is not None
    child = int(root.stdout.readline())
    assert child in {process.pid for process in tree.look()}
    root.kill()
    root.wait()

    tree.kill()

    assert wait_until(lambda: not is_alive(child))


def test_strangers_are_left_alone() -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    root = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        tree = ProcessTree(root.pid)
        assert {process.pid for process in tree.look()} == {root.pid}
        tree.kill()
        assert root.wait(timeout=60) != 0
        assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


def test_a_tree_that_has_ended_is_no_error() -> None:
    root = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    root.wait()
    tree = ProcessTree(root.pid)
    assert tree.look() == []
    tree.kill()
