"""One place for what is known about sizes and rows."""

from symdim.store.facts import Origin
from symdim.store.solver import Store

__all__ = ["Origin", "Store"]
