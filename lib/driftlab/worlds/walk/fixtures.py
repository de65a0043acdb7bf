"""Drawings of objects that do not move: furniture, street furniture, goods."""

from __future__ import annotations

import itertools

import numpy as np

from driftlab.worlds.walk.pen import Colour, Drawing, Pen, colour_near, random_colour, shade

_METAL: Colour = (95, 98, 105)


def chair(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a chair at a slight angle."""
    wood = colour_near(rng, rng.choice([0.08, rng.random()]), 0.55, 0.5)
    width, has_slats, seat_top = pen.aspect, rng.random() < 0.5, rng.uniform(0.48, 0.56)
    for x, foot_y in ((0.1, 0.96), (width - 0.12, 0.98), (0.24, 0.86), (width - 0.2, 0.88)):
        pen.line([(x, seat_top), (x, foot_y)], shade(wood, 0.7), 0.06)
    for x in (0.1, width - 0.12):
        pen.line([(x, 0.03), (x, seat_top)], wood, 0.07)
    if has_slats:
        for y in (0.1, 0.22, 0.34):
            pen.box(0.08, y, width - 0.1, y + 0.06, wood)
    else:
        pen.box(0.08, 0.04, width - 0.1, 0.38, wood, 0.06)
    pen.shape(
        [(0.02, seat_top), (width - 0.08, seat_top), (width, seat_top + 0.13), (0.08, seat_top + 0.13)],
        shade(wood, 1.25),
    )


def dining_table(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a dining table, with or without a tablecloth, with up to three plates."""
    wood, width = colour_near(rng, 0.08, 0.5, 0.55), pen.aspect
    cloth = rng.random() < 0.35
    for x in (0.16, width - 0.2):
        pen.box(x, 0.4, x + 0.09, 0.99, shade(wood, 0.65))
    for x in (0.38, width - 0.42):
        pen.box(x, 0.4, x + 0.07, 0.86, shade(wood, 0.5))
    top = random_colour(rng, 0.3, 0.85) if cloth else shade(wood, 1.2)
    pen.shape([(0.3, 0.2), (width - 0.3, 0.2), (width, 0.4), (0.0, 0.4)], top)
    pen.box(0.0, 0.39, width, 0.56 if cloth else 0.46, shade(top, 0.8))
    for _ in range(int(rng.integers(0, 4))):
        pen.oval(rng.uniform(0.4, width - 0.4), rng.uniform(0.25, 0.33), 0.12, 0.035, (245, 245, 245))


def potted_plant(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a plant in a pot."""
    pot, leaf, middle = colour_near(rng, 0.05, 0.65, 0.6), colour_near(rng, 0.31, 0.6, 0.5), pen.aspect / 2
    spiky = rng.random() < 0.5
    for angle in np.linspace(-1.25, 1.25, int(rng.integers(6, 10))).tolist():
        reach = rng.uniform(0.32, 0.6)
        tip = (middle + 0.75 * reach * np.sin(angle), 0.66 - reach * np.cos(angle))
        green = shade(leaf, rng.uniform(0.7, 1.3))
        if spiky:
            pen.shape([(middle - 0.05, 0.68), tip, (middle + 0.05, 0.68)], green)
        else:
            pen.line([(middle, 0.68), tip], shade(leaf, 0.6), 0.02)
            pen.oval(*tip, 0.1, 0.08, green)
    pen.shape([(middle - 0.2, 0.66), (middle + 0.2, 0.66), (middle + 0.14, 0.99), (middle - 0.14, 0.99)], pot)
    pen.box(middle - 0.22, 0.64, middle + 0.22, 0.72, shade(pot, 1.2))


def lamp(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a standing lamp."""
    middle, flare = pen.aspect / 2, rng.uniform(0.11, 0.16)
    glow = colour_near(rng, 0.13, 0.35, 0.95)
    pen.line([(middle, 0.22), (middle, 0.96)], _METAL, 0.045)
    pen.oval(middle, 0.955, 0.15, 0.04, shade(_METAL, 0.7))
    pen.shape(
        [(middle - flare, 0.01), (middle + flare, 0.01), (middle + 0.2, 0.31), (middle - 0.2, 0.31)], glow
    )


def box(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a cardboard box of which two sides are visible, open or closed."""
    card, width = colour_near(rng, 0.085, 0.45, 0.68), pen.aspect
    corner_x, is_open = rng.uniform(0.55, 0.8) * width, rng.random() < 0.35
    pen.shape([(0.0, 0.25), (corner_x, 0.3), (corner_x, 0.99), (0.0, 0.9)], card)
    pen.shape([(corner_x, 0.3), (width, 0.24), (width, 0.88), (corner_x, 0.99)], shade(card, 0.75))
    pen.shape(
        [(0.0, 0.25), (width - corner_x, 0.17), (width, 0.24), (corner_x, 0.3)],
        shade(card, 0.5 if is_open else 1.15),
    )
    if is_open:
        pen.shape([(0.0, 0.25), (corner_x, 0.3), (corner_x - 0.1, 0.08), (0.02, 0.04)], shade(card, 1.1))
    pen.shape(
        [(corner_x * 0.4, 0.27), (corner_x * 0.6, 0.285), (corner_x * 0.6, 0.96), (corner_x * 0.4, 0.95)],
        shade(card, 1.25),
    )


def bag(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a handbag or a rucksack."""
    cloth, width = random_colour(rng, 0.6, 0.5), pen.aspect
    rucksack = rng.random() < 0.5
    if rucksack:
        pen.ring(width / 2, 0.13, 0.11, shade(cloth, 0.6), 0.05)
        pen.box(0.08, 0.12, width - 0.08, 0.99, cloth, 0.22)
        pen.box(0.18, 0.55, width - 0.18, 0.92, shade(cloth, 0.75), 0.08)
        pen.line([(0.15, 0.4), (width - 0.15, 0.4)], shade(cloth, 0.5), 0.04)
    else:
        pen.ring(width / 2, 0.36, 0.3, shade(cloth, 0.6), 0.06)
        pen.shape([(0.1, 0.38), (width - 0.1, 0.38), (width, 0.99), (0.0, 0.99)], cloth)
        pen.box(0.06, 0.38, width - 0.06, 0.52, shade(cloth, 0.7))
        pen.oval(width / 2, 0.56, 0.05, 0.05, (220, 190, 90))


def bench(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a bench with slats."""
    wood, width = colour_near(rng, rng.choice([0.08, 0.3]), 0.55, 0.5), pen.aspect
    for x in (0.15, width - 0.22):
        pen.box(x, 0.08, x + 0.1, 0.98, _METAL)
    for y in (0.04, 0.17, 0.3):
        pen.box(0.02, y, width - 0.02, y + 0.1, shade(wood, 1.1))
    for y in (0.52, 0.6):
        pen.box(0.0, y, width, y + 0.07, wood)


def booth(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a market stall with roof, counter and goods."""
    cloth, width = random_colour(rng, 0.7, 0.75), pen.aspect
    pen.box(0.08, 0.24, width - 0.08, 0.66, (70, 60, 60))
    for x in (0.05, width - 0.1):
        pen.box(x, 0.2, x + 0.05, 0.99, (120, 95, 70))
    pen.box(0.04, 0.62, width - 0.04, 0.97, colour_near(rng, 0.08, 0.45, 0.6))
    for x in np.arange(0.12, width - 0.2, 0.13).tolist():
        pen.oval(x + 0.06, 0.6, 0.06, 0.05, random_colour(rng, 0.8, 0.8))
    pen.shape([(0.12, 0.02), (width - 0.12, 0.02), (width, 0.26), (0.0, 0.26)], cloth)
    pen.box(0.0, 0.24, width, 0.31, shade(cloth, 0.7))


def awning(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw an awning with stripes and a scalloped hem."""
    cloth, width = random_colour(rng, 0.75, 0.7), pen.aspect
    pale = (240, 236, 225) if rng.random() < 0.7 else shade(cloth, 0.6)
    stripes = int(rng.integers(6, 11))
    for stripe in range(stripes):
        top = 0.12 * width + 0.76 * width * np.array([stripe, stripe + 1]) / stripes
        low = width * np.array([stripe, stripe + 1]) / stripes
        tint = cloth if stripe % 2 else pale
        pen.shape([(top[0], 0.02), (top[1], 0.02), (low[1], 0.75), (low[0], 0.75)], tint)
        pen.oval(float(low.mean()), 0.77, width / stripes / 2, 0.2, shade(tint, 0.85))


def umbrella(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a parasol or an open umbrella."""
    cloth, middle = random_colour(rng, 0.75, 0.7), pen.aspect / 2
    second_colour = (240, 238, 230) if rng.random() < 0.5 else shade(cloth, 0.75)
    pen.line([(middle, 0.05), (middle, 0.99)], (110, 90, 70), 0.05)
    rim_y, shoulder_y = 0.5, 0.19
    edges = np.linspace(-middle + 0.02, middle - 0.02, 7).tolist()
    for panel, (left_x, right_x) in enumerate(itertools.pairwise(edges)):
        pen.shape(
            [
                (middle, 0.02),
                (middle + left_x * 0.75, shoulder_y),
                (middle + left_x, rim_y),
                (middle + right_x, rim_y),
                (middle + right_x * 0.75, shoulder_y),
            ],
            second_colour if panel % 2 else cloth,
        )


def fireplug(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a fire hydrant."""
    paint, middle = colour_near(rng, rng.choice([0.0, 0.0, 0.14]), 0.8, 0.75), pen.aspect / 2
    pen.box(middle - 0.24, 0.9, middle + 0.24, 0.99, shade(paint, 0.6))
    pen.box(middle - 0.16, 0.22, middle + 0.16, 0.92, paint, 0.03)
    pen.box(middle - 0.28, 0.42, middle + 0.28, 0.58, shade(paint, 0.8), 0.03)
    pen.oval(middle, 0.5, 0.08, 0.08, (225, 225, 225))
    pen.box(middle - 0.21, 0.22, middle + 0.21, 0.3, shade(paint, 0.7))
    pen.oval(middle, 0.2, 0.16, 0.13, paint)
    pen.box(middle - 0.05, 0.01, middle + 0.05, 0.1, shade(paint, 0.7))


def streetlight(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a streetlight with one or two arms."""
    middle, post = pen.aspect / 2, shade(_METAL, rng.uniform(0.5, 1.1))
    pen.line([(middle, 0.04), (middle, 0.99)], post, 0.04)
    pen.box(middle - 0.05, 0.88, middle + 0.05, 0.99, post)
    for side in (-1, 1) if rng.random() < 0.5 else (1,):
        pen.line([(middle, 0.05), (middle + side * 0.14, 0.03)], post, 0.03)
        head = middle + side * 0.15
        pen.box(head - 0.06, 0.03, head + 0.06, 0.09, colour_near(rng, 0.14, 0.2, 0.95))


def trashcan(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a rubbish bin with a lid."""
    paint, width = colour_near(rng, rng.choice([0.33, 0.6, 0.1]), rng.choice([0.15, 0.5]), 0.42), pen.aspect
    pen.shape([(0.06, 0.2), (width - 0.06, 0.2), (width - 0.12, 0.99), (0.12, 0.99)], paint)
    for x in np.linspace(0.16, width - 0.2, 4).tolist():
        pen.box(x, 0.3, x + 0.03, 0.94, shade(paint, 0.7))
    pen.box(0.02, 0.12, width - 0.02, 0.24, shade(paint, 0.7), 0.04)
    pen.oval(width / 2, 0.12, width / 2 - 0.06, 0.1, shade(paint, 0.85))


def mailbox(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a mailbox with a round top."""
    paint, width = colour_near(rng, rng.choice([0.61, 0.61, 0.0]), 0.7, 0.55), pen.aspect
    for x in (0.08, width - 0.15):
        pen.box(x, 0.84, x + 0.07, 0.99, shade(paint, 0.6))
    pen.box(0.04, 0.2, width - 0.04, 0.88, paint)
    pen.oval(width / 2, 0.22, width / 2 - 0.04, 0.2, shade(paint, 1.15))
    pen.box(0.12, 0.28, width - 0.12, 0.34, shade(paint, 0.4))
    pen.box(0.14, 0.5, width - 0.14, 0.68, (235, 235, 235))


def trafficcone(pen: Pen, rng: np.random.Generator, phase: float) -> None:
    """Draw a traffic cone, with or without reflective bands."""
    paint, width = colour_near(rng, 0.055, 0.9, 0.95, 0.012), pen.aspect
    middle, bands = width / 2, rng.random() < 0.75
    pen.box(0.0, 0.9, width, 0.99, shade(paint, 0.75), 0.03)
    pen.shape([(middle - 0.04, 0.02), (middle + 0.04, 0.02), (width - 0.1, 0.92), (0.1, 0.92)], paint)
    for y in (0.32, 0.6) if bands else ():
        half = [0.04 + (middle - 0.14) * (level - 0.02) / 0.9 for level in (y, y + 0.13)]
        pen.shape(
            [
                (middle - half[0], y),
                (middle + half[0], y),
                (middle + half[1], y + 0.13),
                (middle - half[1], y + 0.13),
            ],
            (240, 240, 240),
        )


CHAIR = Drawing(chair, 0.62, (0.85, 1.05))
DINING_TABLE = Drawing(dining_table, 1.8, (0.75, 0.9))
POTTED_PLANT = Drawing(potted_plant, 0.95, (0.7, 1.2))
LAMP = Drawing(lamp, 0.46, (1.4, 1.8))
BOX = Drawing(box, 1.15, (0.45, 0.75))
BAG = Drawing(bag, 0.8, (0.45, 0.65))
BENCH = Drawing(bench, 1.9, (0.8, 0.95))
BOOTH = Drawing(booth, 1.05, (2.4, 2.9))
AWNING = Drawing(awning, 2.3, (0.8, 1.1))
UMBRELLA = Drawing(umbrella, 1.0, (2.1, 2.6))
FIREPLUG = Drawing(fireplug, 0.6, (0.7, 0.9))
STREETLIGHT = Drawing(streetlight, 0.44, (3.6, 4.6))
TRASHCAN = Drawing(trashcan, 0.62, (0.9, 1.15))
MAILBOX = Drawing(mailbox, 0.6, (1.1, 1.35))
TRAFFICCONE = Drawing(trafficcone, 0.75, (0.75, 1.0))
