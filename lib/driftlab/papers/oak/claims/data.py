"""Claims about the labelled stream (section 3, Figure 3)."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest, skew

from driftlab.data.detection.oak_locations import LOCATIONS_FILE, clip_of
from driftlab.data.detection.records import FrameStream
from driftlab.papers.oak import stream_statistics as statistics
from driftlab.papers.oak.stream_statistics import MEDIUM, SMALL
from driftlab.reporting.decisions import Decision
from driftlab.reporting.verdicts import Verdict, judge, not_testable

HOUR = 1800
"""Labelled frames in an hour of video."""
NEEDS_OFFICIAL = "Needs official OAK: the claim is about its counts."


def new_categories_become_rarer(stream: FrameStream) -> Verdict:
    """oak-25: The number of seen categories grows gradually, and new ones come more and more rarely."""
    test = (
        "More first appearances in the first half of the stream than in the second (one-sided binomial test, "
        "p < 0.05), and at least 3 of 10 equal stretches bring a new category."
    )
    first = statistics.first_steps(stream)
    early = int((first < stream.length / 2).sum())
    p = float(binomtest(early, len(first), 0.5, alternative="greater").pvalue)
    tenths = len(np.unique(10 * first // stream.length))
    fails = 2 * early <= len(first) or tenths < 3
    decided: Decision = "fails" if fails else "holds" if p < 0.05 else "undecided"
    words = (
        f"{early} categories first appear in the first half and {len(first) - early} in the second "
        f"(p = {p:.2g}); {tenths} of 10 stretches bring a new one."
    )
    return judge("oak-25", test, decided, words)


def instances_have_a_long_tail(stream: FrameStream) -> Verdict:
    """oak-26: Instances per category have a long tail."""
    test = (
        "The most frequent fifth of the categories has at least 80 % of the boxes, or the most frequent "
        "category at least 10 times the median."
    )
    counts = stream.train.counts + stream.test.counts
    counts = np.sort(counts[counts > 0])[::-1]
    share = counts[: max(1, round(len(counts) / 5))].sum() / counts.sum()
    ratio = counts[0] / np.median(counts)
    words = (
        f"The most frequent fifth of {len(counts)} categories has {100 * share:.0f} % of the boxes; largest "
        f"to median count {ratio:.1f}; Gini coefficient {statistics.gini(counts):.2f}."
    )
    return judge("oak-26", test, bool(share >= 0.8 or ratio >= 10), words)


def categories_per_image_have_a_long_tail(stream: FrameStream) -> Verdict:
    """oak-27: Category counts per image have a long tail."""
    test = (
        "Skewness of the number of distinct categories per frame above 0.5, and maximum at least 3 × median."
    )
    counts = statistics.presence_in_time(stream).sum(axis=1)
    skewness, median = float(skew(counts)), float(np.median(counts))
    words = f"Skewness {skewness:.2f}, maximum {counts.max()}, median {median:g}."
    return judge("oak-27", test, bool(skewness > 0.5 and counts.max() >= 3 * median), words)


def boxes_are_small_and_medium(stream: FrameStream) -> Verdict:
    """oak-28: Boxes are mostly small and medium."""
    test = (
        f"At least half of the boxes have an area below {MEDIUM:g} × {MEDIUM:g} pixels of a frame that is "
        f"{statistics.HEIGHT} pixels high (COCO's limit; frames of other heights are scaled)."
    )
    sides = np.concatenate([statistics.box_sides(part) for part in (stream.train, stream.test)])
    small, medium = float((sides < SMALL).mean()), float((sides < MEDIUM).mean())
    shares = [(100 * share, limit) for share, limit in ((small, SMALL), (medium, MEDIUM))]
    words = ", ".join(f"{share:.0f} % below {limit:g} × {limit:g}" for share, limit in shares) + "."
    return judge("oak-28", test, medium >= 0.5, words)


def few_places_are_visited_often(stream: FrameStream) -> Verdict:
    """oak-29: A few places (campus, home) are visited often, others seldom."""
    test = "The two most frequent cells of a grid of 500 m hold at least half of the clips."
    if not stream.places:
        return not_testable("oak-29", test, f"Needs recording places ({LOCATIONS_FILE}).")
    counts = statistics.clips_per_cell(stream.places)
    share = counts[:2].sum() / counts.sum()
    words = f"{100 * share:.0f} % of {counts.sum()} clips in two of {len(counts)} cells."
    return judge("oak-29", test, bool(share >= 0.5), words)


def counts_are_as_printed(stream: FrameStream) -> Verdict:
    """oak-30: 80 clips, 17.5 h, 326 K boxes, 105 categories, 0.5 labelled frames per second."""
    test = (
        "Official data: boxes within 1 % of 326,000, 105 categories with boxes, labelled frames within 10 % "
        "of 31,500, no box with both sides under 20 pixels. Differences are undecided, as the released data "
        "differ from the text."
    )
    if stream.source.kind != "official":
        return not_testable("oak-30", test, NEEDS_OFFICIAL)
    parts = (stream.train, stream.test)
    sides = np.concatenate([part.boxes[:, 2:] - part.boxes[:, :2] for part in parts])
    boxes, frames, tiny = len(sides), sum(map(len, parts)), int((sides < 20).all(axis=1).sum())
    present = int(((stream.train.counts + stream.test.counts) > 0).sum())
    clips = len({clip_of(name) for part in parts for name in part.names})
    agrees = abs(boxes - 326_000) <= 3_260 and present == 105 and abs(frames - 31_500) <= 3_150 and not tiny
    words = (
        f"{clips} clips, {statistics.hours(frames):.1f} h, {boxes} boxes, {frames} labelled frames, "
        f"{present} categories with boxes of {len(stream.categories)} in the map, {tiny} boxes under 20 × 20 "
        "pixels."
    )
    return judge("oak-30", test, "holds" if agrees else "undecided", words)


def one_frame_in_sixteen_is_held_out(stream: FrameStream) -> Verdict:
    """oak-31: One labelled frame in 16 is held out; training and evaluation frames span the same time."""
    test = (
        "Official data: evaluation frames are 0.0575 to 0.0675 of all labelled frames (1/16 = 0.0625, the "
        "released 1/17 = 0.0588), and the first and the last lie within 1 % of the stream's ends."
    )
    if stream.source.kind != "official":
        return not_testable("oak-31", test, NEEDS_OFFICIAL)
    share = len(stream.test) / (len(stream.test) + len(stream.train))
    places = stream.test_after / (len(stream.train) - 1)
    decided = 0.0575 <= share <= 0.0675 and places.min() <= 0.01 and places.max() >= 0.99
    words = (
        f"Share {share:.4f}; evaluation frames from {places.min():.1%} to {places.max():.1%} of the stream."
    )
    return judge("oak-31", test, bool(decided), words)


def categories_stay_away_for_hours(stream: FrameStream) -> Verdict:
    """oak-32: A few categories recur often, and a category may stay away for hours or days."""
    test = (
        f"At least a tenth of the categories that appear twice stay away for an hour of video ({HOUR} "
        "labelled frames) or longer once, and at least one category occurs in half of the hundredths of the "
        "stream."
    )
    presence = statistics.presence_in_time(stream)
    if len(presence) <= HOUR:
        length = f"The stream has {statistics.hours(len(presence)):.2f} h of video"
        return not_testable("oak-32", test, f"{length}: no category can stay away for an hour of it.")
    times = [np.flatnonzero(column) for column in presence.T]
    longest = np.array([np.diff(time).max() for time in times if len(time) > 1])
    away = float((longest >= HOUR).mean())
    edges = np.linspace(0, len(presence), min(100, len(presence)) + 1).astype(int)[:-1]
    recurring = float(np.logical_or.reduceat(presence, edges, axis=0).mean(axis=0).max())
    words = (
        f"{100 * away:.0f} % of {len(longest)} categories were away for an hour of video or longer (longest "
        f"{statistics.hours(longest.max()):.1f} h); the most frequent one occurs in {100 * recurring:.0f} % "
        "of the stretches."
    )
    return judge("oak-32", test, bool(away >= 0.1 and recurring >= 0.5), words)
