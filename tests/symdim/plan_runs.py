"""Runs the loops of plans on arrays."""

from __future__ import annotations

import numpy as np


def run(a_plan, *arrays, shape=None, product="*", **sizes):
    """The result of the loops of a plan; what the plan need not clear starts as rubbish."""
    out = np.full(shape or a_plan.shapes[-1], 0 if a_plan.clears else -99)
    a_plan.compiled(product)(out, *arrays, **sizes)
    return out


def numbers(*shape):
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
