"""Copies of a state: a question works on a copy, which takes the place of the state when it is done.

So a question that fails, by an error or by an interrupt, leaves everything as it was.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from symdim.store.labels import Labels
from symdim.store.propagation import Propagation
from symdim.store.ranks import RankGraph

_SHARED = "rules", "_scope", "_known", "_substitutions"  # the last two only save time


def copied(state: Propagation) -> Propagation:
    """The same state, to be changed apart from the given one."""
    found = object.__new__(Propagation)
    for name, value in vars(state).items():
        setattr(found, name, value if name in _SHARED else _copied(value))
    return found


def _copied(value: Any) -> Any:
    """A container with containers of its own. Constraints, sizes and rows never change."""
    if isinstance(value, dict):
        return {key: list(v) if type(v) is list else dict(v) if type(v) is dict else v for key, v in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    if isinstance(value, list | set | deque):
        return value.copy()
    if isinstance(value, RankGraph | Labels):
        found = object.__new__(type(value))
        vars(found).update({name: _copied(part) for name, part in vars(value).items()})
        return found
    return value
