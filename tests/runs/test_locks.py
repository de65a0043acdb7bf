from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from driftlab.runs.locks import Presence, StageLocks

HOLD = """
import sys, time
from pathlib import Path
from driftlab.runs.locks import Presence, StageLocks
presence = Presence(Path(sys.argv[1]))
locks = StageLocks(Path(sys.argv[1]))
assert locks.try_acquire(sys.argv[2])
print("held", flush=True)
time.sleep(60)
"""

KEY, OTHER = "00000000" + "a" * 56, "00000001" + "a" * 56
SAME_FILE = "00000400" + "b" * 56


def hold(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), KEY], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_two_sweeps_exclude_each_other(tmp_path: Path) -> None:
    one, two = StageLocks(tmp_path), StageLocks(tmp_path)
    assert one.try_acquire(KEY)
    assert not two.try_acquire(KEY)
    assert two.try_acquire(OTHER)
    one.release(KEY)
    assert two.try_acquire(KEY)
    two.release_all()
    assert one.try_acquire(KEY) and one.try_acquire(OTHER)
    one.release_all()


def test_stages_on_one_file_share_it_within_a_sweep(tmp_path: Path) -> None:
    one, two = StageLocks(tmp_path), StageLocks(tmp_path)
    assert one.try_acquire(KEY) and one.try_acquire(SAME_FILE)
    one.release(KEY)
    assert not two.try_acquire(KEY)
    one.release(SAME_FILE)
    assert two.try_acquire(KEY)
    two.release_all()


def test_the_system_releases_what_a_killed_process_held(tmp_path: Path) -> None:
    process = hold(tmp_path)
    locks, presence = StageLocks(tmp_path), Presence(tmp_path)
    try:
        assert not locks.try_acquire(KEY)
        assert not presence.alone()
    finally:
        process.kill()
        process.communicate()
    assert locks.try_acquire(KEY)
    assert presence.alone()
    locks.release_all()
    presence.leave()
    assert not list((tmp_path / ".locks" / "sweeps").iterdir())


def test_lock_files_are_bounded(tmp_path: Path) -> None:
    locks = StageLocks(tmp_path)
    for number in range(5000):
        key = sha256(str(number).encode()).hexdigest()
        assert locks.try_acquire(key)
        locks.release(key)
    assert len(list((tmp_path / ".locks").glob("*.lock"))) <= 1024
