#!/usr/bin/env python3
"""Makes the images of this folder: a drawing in black and white and one in greys, and both with noise.

    python3 make.py

Pixels of noisy.pgm are flipped with probability 0.15; grey-noisy.pgm has Gaussian noise of standard
deviation 0.12 where white is 1.  The same bytes on every machine."""
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent
SIZE = 96


def save(name, pixels):
    levels = bytes(max(0, min(255, round(255 * p))) for row in pixels for p in row)
    (HERE / name).write_bytes(b"P5\n%d %d\n255\n" % (SIZE, SIZE) + levels)


def drawing(x, y):
    """A sun with rays over hills and a house."""
    sun = math.hypot(x - 24, y - 22)
    angle = math.atan2(y - 22, x - 24) * 8 / math.pi
    if sun < 10 or (13 < sun < 19 and abs(angle - round(angle)) < 0.22):
        return 1.0
    if 52 <= x < 82 and 46 <= y < 76:  # the house: door, window, walls
        return 0.0 if 64 <= x < 72 and y >= 60 or 56 <= x < 62 and 52 <= y < 58 else 1.0
    if 28 <= y < 46 and abs(x - 67) <= y - 28:
        return 1.0
    hill = 78 + 6 * math.sin(x / 11) + 4 * math.sin(x / 5 + 1)
    return 1.0 if y > hill else 0.0


def shades(x, y):
    """Slopes and steps: a sphere, a ramp, stairs."""
    r = math.hypot(x - 32, y - 34)
    if r < 24:
        return 0.35 + 0.6 * math.sqrt(1 - (r / 24) ** 2)
    if y >= 72:
        return 0.1 + 0.8 * x / SIZE
    if x >= 64:
        return 0.2 + 0.2 * (y // 18)
    return 0.12


def main():
    rng = random.Random(3)
    truth = [[drawing(x, y) for x in range(SIZE)] for y in range(SIZE)]
    grey = [[shades(x, y) for x in range(SIZE)] for y in range(SIZE)]
    save("truth.pgm", truth)
    save("noisy.pgm", [[1 - p if rng.random() < 0.15 else p for p in row] for row in truth])
    save("grey.pgm", grey)
    save("grey-noisy.pgm", [[p + 0.12 * math.sqrt(-2 * math.log(1 - rng.random()))
                             * math.cos(2 * math.pi * rng.random()) for p in row] for row in grey])


if __name__ == "__main__":
    main()
