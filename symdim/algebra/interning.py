"""One object for each expression: the table of live nodes.

The key of a node is its *fingerprint*: the value of its polynomial at a fixed pseudo-random point modulo the prime
2**61 - 1. So fingerprints add and multiply like the expressions themselves, and equal expressions have equal ones. Two
different expressions have the same one about once in 2**61 pairs. So every hit is compared, and a node whose place is
taken goes into a second table, under its full structure. No fingerprint depends on `hash()` or `id()`.
"""

from __future__ import annotations

import os
from _thread import RLock
from _weakref import ref

from symdim.algebra.expr import Expr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Terms

PRIME = (1 << 61) - 1
_MASK = (1 << 64) - 1

live: dict[int, ref[Expr]] = {}
"""Fingerprint -> the node, weakly; a node found here is still to be compared."""

_crowded: dict[object, ref[Expr]] = {}


def shared_lock() -> RLock:
    """A lock that is free in a forked process, in which no thread is left that could release it."""
    lock = RLock()
    if hasattr(os, "register_at_fork"):  # pragma: no branch  # Windows has no fork
        os.register_at_fork(after_in_child=lock._at_fork_reinit)  # type: ignore[attr-defined]  # as the library does
    return lock


_lock = shared_lock()
_capacity = 1024


def mixed(x: int) -> int:
    """A well-mixed residue in 1..PRIME-1 (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return (x ^ (x >> 31)) % (PRIME - 1) + 1


def text_fingerprint(text: str) -> int:
    """The fingerprint of a name, the same in every process."""
    data = text.encode("utf-8", "surrogatepass")
    return mixed(int.from_bytes(data, "little") % PRIME + 0x9E3779B97F4A7C15 * (len(data) + 1) & _MASK)


def sequence_fingerprint(kind: int, items: tuple[Dim, ...]) -> int:
    """The fingerprint of an atom of the given kind over an ordered tuple of dimensions."""
    state = kind
    for item in items:
        state = (state * 0x9E3779B97F4A7C15 + (item if isinstance(item, int) else item._fingerprint)) % PRIME
    return mixed(state)


def _same(a: Expr, b: Expr) -> bool:
    return a._terms == b._terms and a._const == b._const and a._parts == b._parts and _kind(a) == _kind(b)


def _structure(node: Expr) -> object:
    terms = None if node._terms is None else frozenset(node._terms.items())
    parts = frozenset(node._parts.items()) if isinstance(node._parts, dict) else node._parts
    return _kind(node), terms, node._const, parts


def _kind(node: Expr) -> tuple[object, object]:
    """The class of a node, and the function of an application."""
    return type(node), getattr(node, "function", None)


def find_unit(fingerprint: int, kind: type[Expr], parts: object) -> Expr | None:
    """The live monomial of this kind and parts, if there is one."""
    entry = live.get(fingerprint)
    node = None if entry is None else entry()
    if node is not None and node._parts == parts and type(node) is kind:
        return node
    return None


def find_sum(fingerprint: int, terms: Terms, const: int) -> Expr | None:
    """The live sum of these terms, if there is one."""
    entry = live.get(fingerprint)
    node = None if entry is None else entry()
    if node is not None and node._const == const and node._terms == terms:
        return node
    return None


def publish(node: Expr) -> Expr:
    """The only live node that equals `node`: `node` itself, unless there was one before.

    `setdefault` is atomic. So no lock is needed if the place of the node is free and the second table is empty.
    """
    entry = ref(node)
    if not _crowded and live.setdefault(node._fingerprint, entry) is entry:
        if len(live) > _capacity:
            with _lock:
                _sweep()
        return node
    with _lock:
        held = live.get(node._fingerprint)
        other = None if held is None else held()
        if other is not None and _same(other, node):
            return other
        if other is not None or _crowded:
            return _publish_crowded(node, entry, free=other is None)
        live[node._fingerprint] = entry  # in place of a dead one, so the table grows no longer
    return node


def _publish_crowded(node: Expr, entry: ref[Expr], free: bool) -> Expr:
    key = _structure(node)
    held = _crowded.get(key)
    other = None if held is None else held()
    if other is not None:
        return other
    if free:
        live[node._fingerprint] = entry
    else:
        _crowded[key] = entry
    if len(live) + len(_crowded) > _capacity:
        _sweep()
    return node


def _sweep() -> None:
    """Drop the entries of dead nodes. It runs when the table has doubled, so it costs O(1) for each new node."""
    global _capacity
    tables: tuple[dict[object, ref[Expr]], ...] = (live, _crowded)  # type: ignore[assignment]
    for table in tables:
        for key in list(table):  # a copy: a finalizer may run now and make expressions
            entry = table.get(key)
            if entry is not None and entry() is None:
                del table[key]
    _capacity = max(1024, 2 * (len(live) + len(_crowded)))


def live_nodes() -> int:
    """The number of live nodes other than variables."""
    with _lock:
        _sweep()
        return len(live) + len(_crowded)
