"""Drawings of objects that can move: people, dogs, bicycles, strollers, vehicles and ships."""

from __future__ import annotations

import numpy as np

from driftlab.worlds.walk.pen import Colour, Drawing, Pen, colour, colour_near, random_colour, shade

_DARK: Colour = (35, 35, 40)
_GLASS: Colour = (150, 185, 205)


def person(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a walking person whose legs and arms swing with the phase."""
    skin = colour(0.07, rng.uniform(0.3, 0.6), rng.uniform(0.4, 0.95))
    hair = colour_near(rng, 0.07, 0.6, rng.choice([0.1, 0.3, 0.6]))
    coat, trousers = random_colour(rng, 0.55, 0.65), random_colour(rng, 0.35, 0.35)
    shoulder_half_width, middle = rng.uniform(0.085, 0.125), pen.aspect / 2
    long_coat, seen_from_behind = rng.random() < 0.3, rng.random() < 0.5
    stride = 0.11 * np.sin(2 * np.pi * phase)
    for side in (-1, 1):
        hip, foot = (middle + side * 0.035, 0.52), (middle + side * (0.045 + stride), 0.97)
        pen.line([hip, ((hip[0] + foot[0]) / 2 + 0.015, 0.74), foot], shade(trousers, 1 + 0.15 * side), 0.08)
        pen.oval(foot[0], 0.975, 0.045, 0.022, _DARK)
        shoulder, hand = (
            (middle + side * shoulder_half_width, 0.23),
            (middle + side * (shoulder_half_width + 0.03) - stride * 0.8, 0.53),
        )
        pen.line([shoulder, hand], shade(coat, 0.8), 0.06)
        pen.oval(hand[0], hand[1], 0.022, 0.022, skin)
    hem = 0.68 if long_coat else 0.54
    pen.shape(
        [
            (middle - shoulder_half_width, 0.19),
            (middle + shoulder_half_width, 0.19),
            (middle + shoulder_half_width * 0.95, hem),
            (middle - shoulder_half_width * 0.95, hem),
        ],
        coat,
    )
    pen.box(middle - 0.025, 0.13, middle + 0.025, 0.2, skin)
    pen.oval(middle, 0.085, 0.062, 0.08, hair if seen_from_behind else skin)
    if not seen_from_behind:
        pen.shape(
            [(middle - 0.064, 0.08), (middle - 0.04, 0.005), (middle + 0.04, 0.005), (middle + 0.064, 0.08)],
            hair,
        )


def dog(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a dog from the side, running or standing."""
    fur = colour_near(rng, 0.08, rng.choice([0.1, 0.5, 0.65]), rng.choice([0.25, 0.55, 0.85]))
    mirrored, ears = rng.random() < 0.5, rng.uniform(0.1, 0.2)

    def x(at: float) -> float:
        return pen.aspect - at if mirrored else at

    swing = 0.1 * np.sin(2 * np.pi * phase)
    for hip, sign in ((0.33, 1), (0.42, -1), (0.88, -1), (0.97, 1)):
        pen.line([(x(hip), 0.6), (x(hip + sign * swing), 0.97)], shade(fur, 0.85 if sign > 0 else 0.7), 0.09)
    pen.line([(x(0.28), 0.5), (x(0.14), 0.3), (x(0.08), 0.14)], fur, 0.07)
    pen.box(min(x(0.25), x(1.05)), 0.36, max(x(0.25), x(1.05)), 0.68, fur, 0.16)
    pen.line([(x(0.98), 0.45), (x(1.12), 0.26)], fur, 0.2)
    pen.oval(x(1.14), 0.22, 0.16, 0.13, fur)
    pen.oval(x(1.29), 0.27, 0.1, 0.07, shade(fur, 1.15))
    pen.oval(x(1.37), 0.25, 0.03, 0.03, _DARK)
    pen.shape([(x(1.04), 0.14), (x(1.0), 0.14 + ears + 0.1), (x(1.12), 0.2)], shade(fur, 0.55))


def bicycle(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a bicycle from the side."""
    paint, radius = random_colour(rng, 0.75, 0.65), rng.uniform(0.3, 0.335)
    back, front, low = (0.36, 0.66), (1.3, 0.66), (0.76, 0.7)
    saddle, bars = (0.62, 0.22), (1.14, rng.uniform(0.1, 0.18))
    for hub in (back, front):
        pen.ring(*hub, radius, _DARK, 0.055)
        for angle in np.arange(4) * np.pi / 4 + phase:
            across, down = radius * np.cos(angle), radius * np.sin(angle)
            pen.line(
                [(hub[0] - across, hub[1] - down), (hub[0] + across, hub[1] + down)], (140, 140, 145), 0.012
            )
    for tube in (
        (back, low),
        (back, saddle),
        (low, saddle),
        (low, (1.18, 0.3)),
        ((0.66, 0.32), (1.17, 0.27)),
        (bars, front),
    ):
        pen.line(tube, paint, 0.055)
    pen.box(0.5, 0.16, 0.74, 0.22, _DARK, 0.03)
    pen.line([(bars[0] - 0.1, bars[1] - 0.02), (bars[0] + 0.1, bars[1])], _DARK, 0.05)
    if rng.random() < 0.35:
        pen.box(1.15, 0.2, 1.45, 0.42, colour_near(rng, 0.09, 0.5, 0.5), 0.03)


def car(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a car from the side."""
    paint = random_colour(rng, rng.choice([0.1, 0.7]), 0.7)
    nose, tail = rng.uniform(0.45, 0.75), rng.uniform(0.1, 0.5)
    width, roof = pen.aspect, rng.uniform(0.02, 0.1)
    cabin = [(tail, 0.45), (tail + 0.25, roof), (width - nose - 0.35, roof), (width - nose, 0.45)]
    pen.shape(cabin, shade(paint, 0.9))
    pen.shape(
        [
            (tail + 0.12, 0.42),
            (tail + 0.3, roof + 0.06),
            (width - nose - 0.38, roof + 0.06),
            (width - nose - 0.1, 0.42),
        ],
        _GLASS,
    )
    pillar = (tail + width - nose) / 2
    pen.box(pillar - 0.03, roof, pillar + 0.03, 0.45, shade(paint, 0.9))
    pen.box(0.02, 0.4, width - 0.02, 0.82, paint, 0.12)
    pen.box(0.02, 0.62, width - 0.02, 0.68, shade(paint, 0.7))
    pen.box(width - 0.14, 0.46, width - 0.02, 0.56, (250, 240, 180), 0.03)
    pen.box(0.02, 0.46, 0.1, 0.58, (190, 30, 30), 0.03)
    for x in (0.52, width - 0.55):
        pen.oval(x, 0.8, 0.2, 0.2, _DARK)
        pen.oval(x, 0.8, 0.1, 0.1, (170, 170, 175))


def car_from_behind(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a car from the front or from the rear."""
    paint, behind = random_colour(rng, rng.choice([0.1, 0.7]), 0.7), rng.random() < 0.6
    width, inset = pen.aspect, rng.uniform(0.14, 0.24)
    for x in (0.08, width - 0.26):
        pen.box(x, 0.7, x + 0.18, 0.99, _DARK, 0.04)
    pen.shape([(0.04, 0.45), (inset, 0.03), (width - inset, 0.03), (width - 0.04, 0.45)], shade(paint, 0.9))
    pen.shape(
        [(0.14, 0.42), (inset + 0.05, 0.09), (width - inset - 0.05, 0.09), (width - 0.14, 0.42)], _GLASS
    )
    pen.box(0.0, 0.4, width, 0.88, paint, 0.1)
    light: Colour = (200, 30, 30) if behind else (250, 245, 200)
    for x in (0.05, width - 0.25):
        pen.box(x, 0.48, x + 0.2, 0.6, light, 0.04)
    pen.box(0.3, 0.68, width - 0.3, 0.8, (235, 235, 235) if behind else _DARK, 0.02)


def bus(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a bus from the side."""
    paint, band = random_colour(rng, 0.7, 0.75), random_colour(rng, 0.4, 0.85)
    width, doors = pen.aspect, int(rng.integers(1, 3))
    pen.box(0.0, 0.02, width, 0.9, paint, 0.08)
    pen.box(0.0, 0.56, width, 0.66, band)
    for x in np.arange(0.1, width - 0.3, 0.33).tolist():
        pen.box(x, 0.14, x + 0.27, 0.48, _GLASS, 0.03)
    for door in range(doors):
        x = width - 0.62 - 1.1 * door
        pen.box(x, 0.16, x + 0.26, 0.86, shade(_GLASS, 0.6))
    for x in (0.45, width - 0.85):
        pen.oval(x, 0.87, 0.13, 0.13, _DARK)
        pen.oval(x, 0.87, 0.06, 0.06, (150, 150, 155))


def bus_from_behind(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a bus from the front."""
    paint, width = random_colour(rng, 0.7, 0.75), pen.aspect
    for x in (0.06, width - 0.2):
        pen.box(x, 0.84, x + 0.14, 0.99, _DARK)
    pen.box(0.0, 0.01, width, 0.92, paint, 0.07)
    pen.box(0.15, 0.05, width - 0.15, 0.13, (250, 190, 60))
    pen.box(0.07, 0.17, width - 0.07, 0.55, _GLASS, 0.04)
    pen.box(0.0, 0.62, width, 0.68, shade(paint, 0.7))
    for x in (0.06, width - 0.18):
        pen.box(x, 0.72, x + 0.12, 0.8, (250, 245, 200), 0.03)


def stroller(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a stroller from the side."""
    cloth, mirrored = random_colour(rng, 0.65, 0.6), rng.random() < 0.5
    wheel = rng.uniform(0.12, 0.17)

    def x(at: float) -> float:
        return pen.aspect - at if mirrored else at

    pen.line([(x(0.05), 0.12), (x(0.32), 0.5), (x(0.78), 0.85)], (110, 110, 115), 0.045)
    pen.line([(x(0.66), 0.5), (x(0.25), 0.85)], (110, 110, 115), 0.045)
    pen.shape([(x(0.26), 0.36), (x(0.86), 0.4), (x(0.76), 0.66), (x(0.34), 0.66)], cloth)
    hood = [(x(0.56 + 0.31 * np.cos(a)), 0.36 - 0.31 * np.sin(a)) for a in np.linspace(0.25, np.pi * 0.85, 9)]
    pen.shape([(x(0.5), 0.38), *hood], shade(cloth, 0.75))
    for at in (0.25, 0.78):
        pen.oval(x(at), 0.99 - wheel, wheel, wheel, _DARK)
        pen.oval(x(at), 0.99 - wheel, wheel * 0.45, wheel * 0.45, (190, 190, 195))


def ship(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a ship from the side."""
    hull, width = random_colour(rng, 0.6, 0.5), pen.aspect
    mast, decks = rng.uniform(0.6, 1.2), int(rng.integers(1, 3))
    pen.shape([(0.02, 0.62), (width, 0.58), (width - 0.3, 0.99), (0.22, 0.99)], hull)
    pen.shape([(0.04, 0.66), (width - 0.02, 0.62), (width - 0.05, 0.68), (0.07, 0.72)], (240, 240, 240))
    for deck in range(decks):
        top = 0.42 - 0.2 * deck
        pen.box(0.4 + 0.15 * deck, top, 1.35 - 0.15 * deck, top + 0.2, (235, 235, 230), 0.02)
        for x in np.arange(0.5 + 0.15 * deck, 1.2 - 0.15 * deck, 0.2).tolist():
            pen.box(x, top + 0.05, x + 0.1, top + 0.13, _GLASS)
    pen.line([(mast + 0.5, 0.6), (mast + 0.5, 0.02)], (90, 70, 50), 0.035)
    pen.shape([(mast + 0.52, 0.04), (mast + 0.8, 0.12), (mast + 0.52, 0.2)], random_colour(rng, 0.8, 0.8))


PERSON = Drawing(person, 0.5, (1.5, 1.9))
DOG = Drawing(dog, 1.5, (0.5, 0.8))
BICYCLE = Drawing(bicycle, 1.68, (0.95, 1.15))
CAR = Drawing(car, 2.7, (1.4, 1.7))
CAR_FROM_BEHIND = Drawing(car_from_behind, 1.2, (1.4, 1.75))
BUS = Drawing(bus, 2.9, (2.7, 3.2))
BUS_FROM_BEHIND = Drawing(bus_from_behind, 0.85, (2.7, 3.2))
STROLLER = Drawing(stroller, 0.95, (0.95, 1.15))
SHIP = Drawing(ship, 2.3, (2.1, 3.2))
