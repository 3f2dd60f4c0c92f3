"""Variables that a walk makes: for sizes that only the data decide, and for names that only declared types have.

Outcomes are remembered under the sizes in their inputs. So a walk takes its variables from a table: one variable for
each name, bounds and origin. Then a second inference of the model finds the outcomes of the first one. Within a walk
each name is given once, so different sizes have different variables. A result replaces them by variables of its own
(`engine/fresh.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim import Scope, Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.variable import make_variable

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

_made = shared_cache(1 << 13)  # name, bounds, origin -> variable


def make_size(name: str, lo: int | None, hi: int | None, at_most: Dim | None, origin: object) -> Var:
    """The variable of this name, bounds and origin. A walk must not give a name twice.

    >>> a, b, c = (make_size("_d0", 0, None, None, why) for why in ("rows", "rows", "columns"))
    >>> a is b, a is c
    (True, False)
    """
    key = name, lo, hi, at_most, type(origin), origin
    found: Var | None = _made.get(key)
    if found is None:
        found = _made.setdefault(key, make_variable(Scope(), name, lo, hi, at_most, origin))
    return found
