from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError
from driftlab.data.skeletons.ntu_text import parse_skeleton

PATH = Path("S001C001P001R001A001.skeleton")
Bodies = dict[str, np.ndarray]


def text(*frames: Bodies, joints: int = 25) -> list[str]:
    """The lines of a sample whose frames hold the bodies' joints (25, 3)."""
    lines = [str(len(frames))]
    for bodies in frames:
        lines.append(str(len(bodies)))
        for identity, xyz in bodies.items():
            lines += [f"{identity} 0 1 1 1 1 0 0.02 -0.3 2", str(joints)]
            lines += [
                f"{x} {y} {z} 277.4 191.5 1036.4 519.6 -0.2 0.02 0.97 -0.06 2" for x, y, z in xyz[:joints]
            ]
    return lines


def parse(lines: list[str]):
    return parse_skeleton("\n".join(lines).encode(), PATH)


def body(seed: int, size: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=(25, 3)) * size).round(4)


def test_one_body():
    first, second = body(0), body(1)
    sample = parse(text({"7": first}, {"7": second}))
    assert sample.sequence.shape == (2, 2, 25, 3) and sample.sequence.dtype == np.float32
    np.testing.assert_array_equal(sample.sequence[:, 0], np.float32([first, second]))
    assert (sample.sequence[:, 1] == 0).all()
    assert (sample.empty_frames, sample.spare_tracks) == (0, 0)


def test_the_body_that_moves_most_comes_first():
    calm, lively = body(0, 0.1), body(1, 2.0)
    sample = parse(text({"1": calm, "2": lively}, {"1": calm, "2": lively}))
    np.testing.assert_array_equal(sample.sequence[0], np.float32([lively, calm]))


def test_frames_without_a_body_are_left_out_and_counted():
    first, second = body(0), body(1)
    sample = parse(text({}, {"1": first}, {}, {"1": second}, {}))
    np.testing.assert_array_equal(sample.sequence[:, 0], np.float32([first, second]))
    assert sample.empty_frames == 3


def test_a_person_found_again_under_a_new_id_stays_one_body():
    lost, found, other = body(0, 3), body(1, 2), body(2, 0.1)
    sample = parse(text({"1": lost, "9": other}, {"1": lost, "9": other}, {"2": found, "9": other}))
    np.testing.assert_array_equal(sample.sequence[:, 0], np.float32([lost, lost, found]))
    np.testing.assert_array_equal(sample.sequence[:, 1], np.float32([other] * 3))
    assert sample.spare_tracks == 0


def test_a_third_body_is_left_out_and_counted():
    big, middle, small = body(0, 3), body(1, 2), body(2, 0.1)
    sample = parse(text({"1": small, "2": middle, "3": big}))
    np.testing.assert_array_equal(sample.sequence[0], np.float32([big, middle]))
    assert sample.spare_tracks == 1


def test_two_bodies_of_one_id_in_a_frame_are_two_bodies():
    lines = text({"1": body(0, 3), "2": body(1)})
    lines[2 + 1 + 26] = lines[2]
    assert (parse(lines).sequence != 0).all()


def test_other_columns_may_be_infinite():
    """The tracker projects joints that are beside the picture to infinity."""
    lines = text({"1": body(0)})
    lines[5] = lines[5].replace("1036.4", "-inf").replace("519.6", "NaN")
    assert np.isfinite(parse(lines).sequence).all()


def lines_with(number: int, content: str) -> list[str]:
    """Two frames of one body (lines 2 to 29 and 30 to 57), with one 1-based line replaced."""
    lines = text({"1": body(0)}, {"1": body(1)})
    lines[number - 1] = content
    return lines


JOINT = "0.1 0.2 0.3 277.4 191.5 1036.4 519.6 -0.2 0.02 0.97 -0.06 2"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "The file ends after line 0, where the number of frames should follow"),
        (["0"], "None of the 0 frames holds a body"),
        (["2", "0", "0"], "None of the 2 frames holds a body"),
        (lines_with(1, "two"), "line 1: Expected the number of frames, found 'two'"),
        (lines_with(1, "-2"), "line 1: Expected the number of frames, found '-2'"),
        (lines_with(1, "9" * 5000), "line 1: Expected the number of frames, found '999"),
        (lines_with(1, "1"), "line 30: There is text after the last frame"),
        (lines_with(1, "3"), "ends after line 57, where the number of bodies of frame 3 of 3 should follow"),
        (
            text({"1": body(0)}, {"1": body(1)})[:40],
            "ends after line 40, where a joint in frame 2 of 2 should follow: it was cut short",
        ),
        (text({"1": body(0)})[:2], "where a body of frame 1 of 1 should follow"),
        (text({"1": body(0)})[:3], "where the number of joints in frame 1 of 1 should follow"),
        (lines_with(2, "1.5"), "line 2: Expected the number of bodies of frame 1 of 2, found '1.5'"),
        (lines_with(3, "1 0 1 1 1"), "line 3: a body of frame 1 of 2 has 10 fields; here are 5"),
        (lines_with(4, "24"), "line 4: A body has 25 joints; in frame 1 of 2 it has 24"),
        (lines_with(6, JOINT + " 4"), "line 6: a joint in frame 1 of 2 has 12 fields; here are 13"),
        (
            lines_with(6, JOINT.replace("0.2", "zero")),
            "line 6: a joint in frame 1 of 2 must be numbers.*'zero'",
        ),
        (lines_with(6, JOINT.replace("0.2", "nan", 1)), "line 6: The position of a joint .* is not finite"),
        (
            lines_with(7, JOINT.replace("0.2", "-1e39", 1)),
            "line 7: The position of a joint .* beyond 1,000,000",
        ),
        (lines_with(57, JOINT.replace("0.1", "inf", 1)), "line 57: The position of a joint in frame 2 of 2"),
    ],
)
def test_damaged_text(lines, message):
    with pytest.raises(DataError, match=message) as caught:
        parse(lines)
    assert str(PATH) in str(caught.value)


def test_a_binary_file():
    with pytest.raises(DataError, match="not a text file"):
        parse_skeleton(b"\x80\x04\x95", PATH)


def test_blank_lines_at_the_end_are_no_fault():
    assert len(parse([*text({"1": body(0)}), "", " "]).sequence) == 1
