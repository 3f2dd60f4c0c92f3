"""Variables, and scopes. In a scope each name belongs to one variable."""

from __future__ import annotations

from _weakref import ref
from functools import partial
from itertools import count
from os import getpid, urandom

from symdim.algebra.expr import Expr, as_dim
from symdim.algebra.interning import mixed, shared_lock, text_fingerprint
from symdim.errors import BoundsError, SymdimError, demand_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Interval

_lock = shared_lock()
_ids = count(1)
_LOW, _HIGH = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # odd numbers that spread bounds over fingerprints
_NONCE = int.from_bytes(urandom(8), "little") << 64  # with the process id: scopes of other processes are others


class Scope:
    """A name space: each name belongs to one variable in it, with the bounds that it is given first.

    >>> left, right = Scope(), Scope()
    >>> left.var("N", 0) is left.var("N"), left.var("N") is right.var("N")
    (True, False)
    >>> left.var("N", 2)
    Traceback (most recent call last):
    symdim.errors.BoundsError: 'N' is in 0.. in this scope, not 2..: give it another scope, or another name
    """

    __slots__ = ("__weakref__", "_capacity", "_declared", "_vars", "owner", "serial")

    _made = 0  # scopes of this process so far
    _live: dict[tuple[int | str, int], ref[Scope]] = {}  # noqa: RUF012  (all scopes: a pickled one finds itself again)

    def __init__(self) -> None:
        with _lock:
            Scope._made += 1
            self._register(_NONCE ^ getpid(), Scope._made)

    def _register(self, owner: int | str, serial: int) -> None:
        self.owner, self.serial = owner, serial
        self._vars: dict[tuple[str, int | None, int | None], ref[Var]] = {}
        self._declared: dict[str, Interval] = {}  # of all names so far: no bounds depend on which variables still live
        self._capacity = 64
        live, identity = Scope._live, (owner, serial)
        # An interrupt could end a function of Python before the entry is gone. `pop` takes the reference as default.
        live[identity] = ref(self, partial(live.pop, identity))

    def var(
        self,
        name: str,
        min: int | None = None,
        max: int | None = None,
        *,
        at_most: Dim | None = None,
        origin: object = None,
    ) -> Var:
        """The variable of this name. Raises `BoundsError` for other bounds than those that it has."""
        given = _given(_named(name), min, max, at_most)
        ends = self._declared.setdefault(name, given)
        below, above = min is not None, max is not None or at_most is not None  # the ends that are given
        if (below and given[0] != ends[0]) or (above and given[1] != ends[1]):
            said = f"{name!r} is in {_text(ends)} in this scope, not {_text(given)}"
            raise BoundsError(f"{said}: give it another scope, or another name")
        return self.restored(name, *ends, at_most, origin)

    def restored(self, name: str, lo: int | None, hi: int | None, at_most: Dim | None, origin: object) -> Var:
        """The variable with these bounds, which may be negative: the live one, or a new one. A pickle asks for it."""
        key = (name, lo, hi)
        held = self._vars.get(key)  # the usual case needs no lock
        live = None if held is None else held()
        if live is None:
            with _lock:
                held = self._vars.get(key)
                live = None if held is None else held()
                if live is None:
                    live = make_variable(self, name, lo, hi, at_most, origin)
                    self._vars[live.name, lo, hi] = ref(live)
                    if len(self._vars) > self._capacity:
                        self._vars = {key: held for key, held in self._vars.items() if held() is not None}
                        self._capacity = max(64, 2 * len(self._vars))
        return live

    def __copy__(self) -> Scope:
        return self

    def __deepcopy__(self, memo: object) -> Scope:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return scope_of, (self.owner, self.serial)


class Var(Expr):
    """A variable: an unknown integer between its bounds `lo` and `hi`, which are inclusive; None means unbounded.

    `Var(name)` is the variable of that name in the default scope, with the bounds 1 and None; `min` and `max` give
    others. Bounds belong to a variable as its name does: `Var(name, 0)` is always another variable, and texts mean the
    first one unless `names` gives them the other one. Any string except the empty one is a name. `at_most` is an upper
    bound that may depend on other variables, `origin` says where the variable comes from. `id` is a number that no
    other variable has, as long as this one lives.

    >>> from symdim import parse
    >>> batch = Var("batch", 0)
    >>> batch is Var("batch", min=0), batch is Var("batch"), parse("batch + 1", {"batch": batch}).bounds()
    (True, False, (1, None))
    >>> batch.id == Var("batch", 0).id, batch.id == Var("batch").id, Var("N", 1, max=512).bounds()
    (True, False, (1, 512))
    >>> Scope().var("H", 8, 4)
    Traceback (most recent call last):
    symdim.errors.BoundsError: 'H' would have bounds 8..4
    """

    __slots__ = ("at_most", "hi", "id", "lo", "name", "origin", "scope")
    __match_args__ = ("name",)

    name: str
    id: int
    lo: int | None  # None (no lower bound) only for variables of the prover
    hi: int | None
    scope: Scope
    at_most: Dim | None
    origin: object

    def __new__(cls, name: str, min: int | None = None, max: int | None = None) -> Var:
        return _default.restored(name, *_given(_named(name), min, max), None, None)

    @classmethod
    def fresh(
        cls,
        name: str = "",
        min: int = 0,
        max: int | None = None,
        at_most: Dim | None = None,
        origin: object = None,
    ) -> Var:
        """A variable that equals no other one, whatever its name. Without a name, it is printed as `v` and its `id`.

        >>> Var.fresh("nnz") is Var.fresh("nnz"), str(nameless := Var.fresh()) == f"v{nameless.id}"
        (False, True)
        """
        return Scope().restored(name, *_given(name, min, max, at_most), at_most, origin)


def make_variable(
    scope: Scope,
    name: str,
    lo: int | None,
    hi: int | None,
    at_most: Dim | None = None,
    origin: object = None,
) -> Var:
    """A new variable that is not entered in its scope. With `lo=None` it has no lower bound."""
    lo, hi = _ends(name, lo, hi, at_most)
    node: Var = object.__new__(Var)
    node.id = next(_ids)
    name = name or f"v{node.id}"
    node._terms = None
    node._const = node._height = node._flags = 0
    node._parts = None
    salt = 0 if scope is _default and (lo, hi) == (1, None) else mixed(scope.serial ^ text_fingerprint(f"{lo}..{hi}"))
    node._named = text_fingerprint(name)
    node._fingerprint = mixed(node._named ^ salt) if salt else node._named
    node._bounds = (lo, hi)
    node._names = (name,)
    node._order = None
    node._text = name
    node.name, node.lo, node.hi, node.scope, node.at_most, node.origin = name, lo, hi, scope, at_most, origin
    return node


def symbols(names: str, min: int | None = None, max: int | None = None) -> tuple[Var, ...]:
    """The variables of several names, which are separated by spaces or commas, with the same bounds.

    >>> B, S = symbols("B S")
    >>> B is Var("B"), symbols("H, W", max=640)[1].bounds()
    (True, (1, 640))
    """
    demand_text(names, "the names of symbols", ", such as 'B S'")
    return tuple([Var(name, min, max) for name in names.replace(",", " ").split()])


def dynamic(name: str, min: int, max: int) -> Var:
    """A new size between two bounds, whatever its name: `Var.fresh`.

    >>> n = dynamic("n", 1, 100)
    >>> n.bounds(), n is dynamic("n", 1, 100), (2 * n + 1).evaluate({n: 5})
    ((1, 100), False, 11)
    """
    return Var.fresh(name, min, max)


def narrowed(v: Var, lo: int | None, hi: int | None) -> Dim:
    """The variable between these bounds: the number if there is only one, else a new variable of the same name.

    An integer may be negative, or without a lower bound (`lo=None`).

    >>> narrowed(Var("N"), 3, 3), narrowed(Var("N"), -3, -2).bounds()
    (3, (-3, -2))
    """
    return lo if lo is not None and lo == hi else make_variable(Scope(), v.name, lo, hi)


def scope_of(owner: int | str, serial: int) -> Scope:
    """The scope with this identity, alive or made again. A pickle has it, or a text that says what names stand for."""
    with _lock:
        held = Scope._live.get((owner, serial))
        scope = None if held is None else held()
        if scope is None:
            scope = object.__new__(Scope)
            scope._register(owner, serial)
        return scope


def _named(name: str) -> str:
    """The name of a variable that others find by its name."""
    if not name and isinstance(name, str):
        raise SymdimError("the name of a variable is empty: Var.fresh() makes a variable without a name")
    return name


def _given(name: str, lo: int | None, hi: int | None, at_most: Dim | None = None) -> Interval:
    """The bounds of a size: by default it is at least 1."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a variable is a str, not {type(name).__name__}")
    if lo is None and hi is None and at_most is None:
        return 1, None  # the usual case
    low, high = _ends(name, 1 if lo is None else lo, hi, at_most)
    if low is not None and low < 0:
        raise BoundsError(f"a dimension is not negative, but {name!r} would have bounds {_text((low, high))}")
    return low, high


def _ends(name: str, lo: int | None, hi: int | None, at_most: Dim | None) -> Interval:
    """The bounds as ints, the upper one with what bounds it. Raises TypeError, and BoundsError if none is between."""
    lo, hi = _bound(name, lo), _bound(name, hi)
    if at_most is not None:
        limit = at_most.bounds()[1] if isinstance(at_most, Expr) else _bound(name, at_most)
        if limit is not None:
            hi = limit if hi is None else min(hi, limit)
    if lo is not None and hi is not None and lo > hi:
        raise BoundsError(f"{name!r} would have bounds {_text((lo, hi))}")
    return lo, hi


def _bound(name: str, bound: int | None) -> int | None:
    if bound is None or type(bound) is int:
        return bound
    if not isinstance(number := as_dim(bound), int):
        raise TypeError(f"the bounds of {name!r} are ints, not {bound!r}")
    return number


def _text(ends: Interval) -> str:
    return f"{ends[0]}..{'' if ends[1] is None else ends[1]}"


_default = scope_of(0, 0)
