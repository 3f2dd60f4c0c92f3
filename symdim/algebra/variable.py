"""Variables, and scopes. In a scope each name belongs to one variable."""

from __future__ import annotations

from _weakref import ref
from functools import partial
from os import getpid, urandom

from symdim.algebra.caches import clear_caches
from symdim.algebra.expr import Expr
from symdim.algebra.interning import mixed, shared_lock, text_fingerprint
from symdim.errors import BoundsError, SymdimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from symdim.algebra.expr import Dim

_lock = shared_lock()
_NONCE = int.from_bytes(urandom(8), "little") << 64  # with the process id: scopes of other processes are others


class Scope:
    """A name space: each name belongs to one variable in it, with one set of bounds.

    >>> left, right = Scope(), Scope()
    >>> left.var("N") is left.var("N"), left.var("N") is right.var("N")
    (True, False)
    """

    __slots__ = ("__weakref__", "_capacity", "_vars", "owner", "serial")

    _made = 0  # scopes of this process so far
    _live: dict[tuple[int | str, int], ref[Scope]] = {}  # noqa: RUF012  (all scopes: a pickled one finds itself again)

    def __init__(self) -> None:
        with _lock:
            Scope._made += 1
            self._register(_NONCE ^ getpid(), Scope._made)

    def _register(self, owner: int | str, serial: int) -> None:
        self.owner, self.serial = owner, serial
        self._vars: dict[str, ref[Var]] = {}
        self._capacity = 64
        live, identity = Scope._live, (owner, serial)
        # An interrupt could end a function of Python before the entry is gone. `pop` takes the reference as default.
        live[identity] = ref(self, partial(live.pop, identity))

    def var(
        self,
        name: str,
        lo: int | None = None,
        hi: int | None = None,
        *,
        at_most: Dim | None = None,
        origin: object = None,
    ) -> Var:
        """The variable of this name; see `Var`."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a variable is a str, not {type(name).__name__}")
        found = self._live_variable(name)
        if found is not None and lo in (None, found.lo) and hi in (None, found.hi):  # the usual case needs no lock
            return found
        del found  # `_held` asks whether somebody else holds it
        with _lock:
            found = self._held(name, lambda v: lo in (None, v.lo) and hi in (None, v.hi), lo, hi)
            if found is None:
                if lo is not None and lo < 0:
                    raise BoundsError(f"a dimension is not negative, but {name!r} would have bounds {lo}..{_end(hi)}")
                found = self._enter(make_variable(self, name, 1 if lo is None else lo, hi, at_most, origin))
            return found

    def restored(self, name: str, lo: int | None, hi: int | None, at_most: Dim | None, origin: object) -> Var:
        """The variable that a pickle names: the live one, which must have the same bounds, or a new one."""
        found = self._live_variable(name)
        if found is not None and (found.lo, found.hi) == (lo, hi):
            return found
        del found
        with _lock:
            found = self._held(name, lambda v: (v.lo, v.hi) == (lo, hi), lo, hi)
            return found or self._enter(make_variable(self, name, lo, hi, at_most, origin))

    def _held(self, name: str, agrees: Callable[[Var], bool], lo: int | None, hi: int | None) -> Var | None:
        """The live variable of this name. Raises `BoundsError` if it has other bounds and is held outside of caches."""
        found = self._live_variable(name)
        if found is None or agrees(found):
            return found
        del found
        clear_caches()
        found = self._live_variable(name)
        if found is None or agrees(found):
            return found
        raise BoundsError(f"{name!r} is already in {found.lo}..{_end(found.hi)}, not {lo}..{_end(hi)}")

    def _live_variable(self, name: str) -> Var | None:
        held = self._vars.get(name)
        return None if held is None else held()

    def _enter(self, variable: Var) -> Var:
        self._vars[variable.name] = ref(variable)
        if len(self._vars) > self._capacity:
            self._vars = {name: held for name, held in self._vars.items() if held() is not None}
            self._capacity = max(64, 2 * len(self._vars))
        return variable

    def __copy__(self) -> Scope:
        return self

    def __deepcopy__(self, memo: object) -> Scope:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return scope_of, (self.owner, self.serial)


class Var(Expr):
    """A variable: an unknown integer in `lo..hi` (inclusive; `hi=None`: unbounded).

    `Var(name)` is the variable of that name in the default scope: the one that exists, or a new one with the bounds 1
    and None. As long as it is referenced, other bounds raise `BoundsError`. Any string except the empty one is a name.
    `at_most` is an upper bound that may depend on other variables, `origin` says where the variable comes from.

    >>> Var("batch") is Var("batch")
    True
    >>> Scope().var("H", 8, 4)
    Traceback (most recent call last):
    symdim.errors.BoundsError: 'H' would have bounds 8..4
    """

    __slots__ = ("at_most", "hi", "lo", "name", "origin", "scope")
    __match_args__ = ("name",)

    name: str
    lo: int | None  # None (no lower bound) only for variables of the prover
    hi: int | None
    scope: Scope
    at_most: Dim | None
    origin: object

    def __new__(cls, name: str, lo: int | None = None, hi: int | None = None) -> Var:
        return _default.var(name, lo, hi)

    @classmethod
    def fresh(
        cls,
        name: str,
        lo: int = 0,
        hi: int | None = None,
        at_most: Dim | None = None,
        origin: object = None,
    ) -> Var:
        """A variable that equals no other one, whatever its name.

        >>> Var.fresh("nnz") is Var.fresh("nnz")
        False
        """
        return Scope().var(name, lo, hi, at_most=at_most, origin=origin)


def make_variable(
    scope: Scope,
    name: str,
    lo: int | None,
    hi: int | None,
    at_most: Dim | None = None,
    origin: object = None,
) -> Var:
    """A new variable that is not entered in its scope. With `lo=None` it has no lower bound."""
    if not name:
        raise SymdimError("the name of a variable is empty")
    for bound in (lo, hi):
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
            raise TypeError(f"the bounds of {name!r} are ints, not {bound!r}")
    limit = at_most.bounds()[1] if isinstance(at_most, Expr) else at_most
    if limit is not None:
        hi = limit if hi is None else min(hi, limit)
    if lo is not None and hi is not None and lo > hi:
        raise BoundsError(f"{name!r} would have bounds {lo}..{_end(hi)}")
    node: Var = object.__new__(Var)
    node.terms = None
    node.const = node.height = node.flags = 0
    node.parts = None
    salt = 0 if scope is _default else mixed(scope.serial)
    node._named = text_fingerprint(name)
    node.fingerprint = mixed(node._named ^ salt) if salt else node._named
    node._bounds = (lo, hi)
    node._names = (name,)
    node._order = None
    node._text = name
    node.name, node.lo, node.hi, node.scope, node.at_most, node.origin = name, lo, hi, scope, at_most, origin
    return node


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


def _end(hi: int | None) -> str:
    return "" if hi is None else str(hi)


_default = scope_of(0, 0)
