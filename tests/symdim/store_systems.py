"""Random systems of written facts, the same ones for the same seed."""

from __future__ import annotations

import random

NAMES = ("a", "b", "c")


def systems(seed, number, most=5):
    """So many lists of 1 to `most` facts about sizes, about rows, or about both."""
    rng = random.Random(seed)
    for _ in range(number):
        about = rng.choice([("size",), ("row",), ("size", "row")])
        yield [_fact(rng, rng.choice(about)) for _ in range(rng.randint(1, most))]


def _fact(rng, about):
    if about == "row":
        return _row_fact(rng)
    match rng.randrange(4):
        case 0:
            return {"dim_eq": [_size(rng), _size(rng)]}
        case 1:
            return {"dim_le": {"result": _atom(rng), "operand": _atom(rng)}}
        case 2:
            return {"at_least": [rng.choice(NAMES), rng.randint(1, 3)]}
        case _:
            return {"window": _window(rng)}


def _atom(rng):
    return rng.choice([*NAMES, *NAMES, 1, 2, 3, 4])


def _size(rng):
    match rng.randrange(5):
        case 0:
            return {"concat": [_atom(rng) for _ in range(rng.randint(1, 3))]}
        case 1:
            return {"stride": rng.randint(1, 3), "over": rng.choice(NAMES)}
        case 2:
            window = {"kernel": _atom(rng), "dilation": rng.randint(1, 2), "padding": False}
            return {"stride": rng.randint(1, 2), "over": rng.choice(NAMES), **window}
        case _:
            return _atom(rng)


def _window(rng):
    return {
        "in": _atom(rng),
        "out": _atom(rng),
        "kernel": _atom(rng),
        "stride": rng.randint(1, 3),
        "dilation": rng.randint(1, 2),
        "pads": [rng.randint(0, 1), rng.randint(0, 1)],
        "auto_pad": rng.choice(["NOTSET", "NOTSET", "VALID", "SAME_UPPER"]),
        "ceil": rng.random() < 0.5,
    }


def _row_atom(rng):
    return rng.choice(["a", "b", 1, 2, 3])


def _flank(rng):
    return [_row_atom(rng) for _ in range(rng.randint(0, 2))]


def _row(rng):
    match rng.randrange(3):
        case 0:
            return [*_flank(rng), rng.choice(["..r..", "..s.."]), *_flank(rng)]
        case 1:
            return _flank(rng)
        case _:
            return {"lead": _flank(rng), "trail": _flank(rng)}


def _row_fact(rng):
    match rng.randrange(5):
        case 0:
            return {"row_eq": [_row(rng), _row(rng)]}
        case 1:
            return {"row_le": {"result": _row(rng), "operand": _row(rng)}}
        case 2:
            rows = [_row(rng) for _ in range(rng.randint(1, 2))]
            return {"elements": {"rows": rows, "equals": rng.choice(["a", rng.randint(1, 6)])}}
        case 3:
            return {"exact": {"rows": [_row(rng) for _ in range(rng.randint(1, 2))], "dims": _flank(rng)}}
        case _:
            return {"dim_eq": [_row_atom(rng), _row_atom(rng)]}
