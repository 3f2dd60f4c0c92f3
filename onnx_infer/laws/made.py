"""Sizes that an inference makes: those that only the data decide, and declared names of which nothing else is known.

Outcomes are remembered under the sizes in their inputs. So walks take the sizes that they make from a table: those of
the same name, bounds and origin are one variable. A walk gives each name once, so they are different sizes in it. When
a model is inferred again, its outcomes are found. In a result each of them is a variable that no other result has
(`engine/own_sizes.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim import Scope
from symdim.algebra.caches import shared_cache
from symdim.algebra.variable import make_variable

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim
    from symdim import Var

_made = shared_cache(1 << 13)  # name, bounds, origin -> variable


def make_size(name: str, lo: int | None, hi: int | None, at_most: Dim | None, origin: object) -> Var:
    """The variable of this name, bounds and origin for walks. The name is given once in a walk.

    >>> a, b, c = (make_size("_d0", 0, None, None, why) for why in ("rows", "rows", "columns"))
    >>> a is b, a is c
    (True, False)
    """
    key = name, lo, hi, at_most, type(origin), origin
    found: Var | None = _made.get(key)
    if found is None:
        found = _made.setdefault(key, make_variable(Scope(), name, lo, hi, at_most, origin))
    return found
