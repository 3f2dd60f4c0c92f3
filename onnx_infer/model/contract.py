"""The contract of a model, as metadata of its graph: what holds of its sizes beyond the shapes in the file.

docs/contract.md describes the form. Reading never fails: what cannot be read is told, and the rest counts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from symdim import DivisionByZero, Expr, Scope, SymdimError, Var, parse
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.texts.display import quoted
from symdim.errors import UnboundFunction
from symdim.relations.relation import SIGNS, Relation, RelationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from onnx_infer.laws.statements import Kind
    from symdim import Dim

Written: TypeAlias = "int | str"
"""A size in a contract: a number, or a text that `symdim.parse` reads."""

VERSION = 1

ELEMENT = re.compile(r"(.+)\[(\d{1,18})\]")
"""The name of an element of an input: that of the input, and the index in row-major order."""

_RELATIONS = (
    "equal", "unequal", "at_least", "at_most", "greater", "less", "divides", "broadcast", "broadcast_to",
)  # fmt: skip
"""The relations of version 1; another one makes another version."""
_KINDS = ("required", "assumed", "declared")
_SIGNS_INSIDE = re.compile(r"[=!<>]| and ")  # in a name: an assumption would be read wrongly
_MOST_TOLD = 5
"""The most faults of one entry that are told one by one."""


class Names:
    """The names in a contract, as variables without bounds: what is concluded of their texts holds of all integers."""

    def __init__(self) -> None:
        self._scope = Scope()

    def var(self, name: str, /) -> Var:
        """The variable of a name."""
        return self._scope.restored(name, None, None, None, None)

    def read(self, size: Written) -> Dim:
        """The size of a text. Raises `SymdimError`."""
        return size if isinstance(size, int) else parse(size, scope=self)


def written(size: Dim) -> Written:
    """A size as a contract has it: `parse` reads the text, whatever names the model has.

    >>> written(Var("seq len")), written(Var("seq len") + 1)
    ('`seq len`', '`seq len` + 1')
    """
    if isinstance(size, int):
        return size
    return quoted(size.name) if isinstance(size, Var) else str(size)


class Condition(NamedTuple):
    """A guard as it is written: a relation of two sizes (`symdim.relations`), and the fields of `onnx_infer.Guard`.

    `nodes` are the operator and the name of each node that states it.
    """

    relation: RelationKind
    left: Written
    right: Written
    law: str = ""
    kind: Kind = "required"
    nodes: tuple[tuple[str, str], ...] = ()
    conditional: bool = False
    filled: tuple[tuple[Written, ...], ...] = ()

    def read(self, names: Names) -> Relation:
        """The relation. Raises `SymdimError` for a text that is no size."""
        return Relation(self.relation, names.read(self.left), names.read(self.right))


class Contract(NamedTuple):
    """What holds of the sizes of a model.

    `bounds` are intervals of symbols (None: no upper end); a symbol without one is at least 1. `guards` are conditions
    on the symbols and elements of the inputs. `upper_bounds` gives data-dependent symbols a size that they
    do not exceed.

    >>> contract = Contract({"N": (2, 8)}, (Condition("divides", 4, "N*H", "heads"),), {"_d0": "4*N"})
    >>> text = contract.text()
    >>> print(text[:90])
    {"version":1,"bounds":{"N":[2,8]},"guards":[{"relation":"divides","left":4,"right":"N*H","
    >>> read_contract(text) == (contract, [])
    True
    >>> contract.substituted({"N": 2}).guards[0][:3], contract.substituted({"N": 4, "H": "h"})
    (('divides', 4, '2*H'), Contract(bounds={}, guards=(), upper_bounds={'_d0': 16}))
    """

    bounds: Mapping[str, tuple[int, int | None]] = {}
    guards: tuple[Condition, ...] = ()
    upper_bounds: Mapping[str, Written] = {}

    def __bool__(self) -> bool:
        return any(self)

    def text(self) -> str:
        """The entry. Equal contracts have the same text."""
        parts: dict[str, Any] = {"version": VERSION}
        if self.bounds:
            parts["bounds"] = dict(sorted(self.bounds.items()))
        if self.guards:
            parts["guards"] = [_without_defaults(guard) for guard in self.guards]
        if self.upper_bounds:
            parts["upper_bounds"] = dict(sorted(self.upper_bounds.items()))
        return json.dumps(parts, separators=(",", ":"))

    def substituted(self, sizes: Mapping[str, Dim | str]) -> Contract:
        """What holds with these sizes, or expressions of other names, in place of symbols.

        What always holds then is left out. What never holds stays, so the contract refuses the sizes. A part that
        cannot be read stays as it is.
        """
        put = _Substitution(sizes)
        bounds = {name: ends for name, ends in self.bounds.items() if name not in sizes}
        bounding: list[Condition] = []
        for name in [name for name in self.bounds if name in sizes]:
            size, (low, high) = put.of(name), self.bounds[name]
            if isinstance(size, Var) and size.name not in bounds:
                bounds[size.name] = low, high
            else:
                bounding += interval(written(size), low, high, f"bounds of {name!r}")
        guards = [guard for guard in bounding if not put.always(guard)]
        guards += [kept for guard in self.guards if (kept := put.condition(guard)) is not None]
        upper = {put.name(name): put.size(size) for name, size in self.upper_bounds.items()}
        return Contract(bounds, tuple(dict.fromkeys(guards)), upper)

    def assumable(self, names: Container[str]) -> Iterator[str]:
        """The guards on symbols of these names, as texts of assumptions; not those on which sizes broadcast."""
        variables = Names()
        for guard in self.guards:
            sides, sign = (str(guard.left), str(guard.right)), SIGNS.get(guard.relation)
            if guard.relation == "divides":
                sides, sign = (f"({guard.right}) % ({guard.left})", "0"), "=="
            try:
                read = [variables.read(side) for side in sides]
                known = all(v.name in names for size in read for v in variables_of([size]))
            except SymdimError:
                continue
            if known and sign and all(map(_has_values, read)) and not _SIGNS_INSIDE.search("".join(sides)):
                yield f"{sides[0]} {sign} {sides[1]}"

    def declared(self) -> Contract:
        """What only the author says. The rest follows from the nodes, and from the numbers in the file."""
        return Contract(self.bounds, tuple([guard for guard in self.guards if guard.kind == "declared"]))


def _has_values(size: Dim) -> bool:
    """Whether the functions in a size have values, so that the prover can try it at numbers."""
    try:
        if isinstance(size, Expr):
            size.to_int(dict.fromkeys(size.variables(), 1))
    except UnboundFunction:
        return False
    except DivisionByZero:
        pass  # at these numbers
    return True


def interval(size: Written, low: int, high: int | None, law: str) -> Iterator[Condition]:
    """The interval of a size as conditions by the word of the author."""
    yield Condition("at_least", size, low, law, "declared")
    if high is not None:
        yield Condition("at_most", size, high, law, "declared")


class _Substitution:
    """Sizes in place of the symbols of a contract."""

    def __init__(self, sizes: Mapping[str, Dim | str]) -> None:
        self._names = names = Names()
        self._values = {names.var(n): names.read(s) if isinstance(s, str) else _own(s, names) for n, s in sizes.items()}

    def of(self, name: str) -> Dim:
        """What stands for a symbol."""
        return self._values[self._names.var(name)]

    def name(self, name: str) -> str:
        """The other name of a symbol, if there is one."""
        other = self._values.get(self._names.var(name))
        return other.name if isinstance(other, Var) else name

    def size(self, size: Written) -> Written:
        """A size with these in it."""
        try:
            read = self._names.read(size)
        except SymdimError:
            return size
        new = substituted(read, self._values)
        return size if new is read else written(new)

    def condition(self, condition: Condition) -> Condition | None:
        """A condition with these sizes in it; None if it always holds then."""
        left, right = self.size(condition.left), self.size(condition.right)
        filled = tuple([tuple(map(self.size, shape)) for shape in condition.filled])
        new = condition._replace(left=left, right=right, filled=filled)
        return None if new != condition and self.always(new) else new

    def always(self, condition: Condition) -> bool:
        """Whether a condition holds of all integers, as far as its normal form shows."""
        try:
            kind, gap, _, _ = condition.read(self._names).normal()
        except (SymdimError, DivisionByZero):
            return False
        return isinstance(gap, int) and {"equal": gap == 0, "unequal": gap != 0}.get(kind, gap >= 0)


def _own(size: Dim, names: Names) -> Dim:
    """A size over the variables of these names."""
    return size.substitute({v: names.var(v.name) for v in size.variables()}) if isinstance(size, Expr) else size


def _without_defaults(condition: Condition) -> dict[str, Any]:
    default = condition._field_defaults
    return {name: value for name, value in condition._asdict().items() if value != default.get(name, ...)}


# -- reading ----------------------------------------------------------------------------------------------------------


def read_contract(text: str) -> tuple[Contract | None, list[str]]:
    """The contract in an entry, and what is wrong with the entry. None if it is damaged, or of another version.

    >>> read_contract('{"version": 1, "bounds": {"seq": [1, 2048], "batch": [4, 2]}}')
    (Contract(bounds={'seq': (1, 2048)}, guards=(), upper_bounds={}), ["[4, 2] are not bounds of 'batch'"])
    >>> read_contract('{"version": 2}')
    (None, ['version 2 is not read here, only 1'])
    """
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError) as error:
        return None, [f"no JSON: {error}"]
    if not isinstance(parts, dict):
        return None, [f"no JSON object: {text[:60]}"]
    version = parts.pop("version", None)
    if type(version) is not int or version != VERSION:
        return None, [f"version {version!r:.20} is not read here, only {VERSION}"]
    wrong: list[str] = []
    bounds = _entries(parts.pop("bounds", {}), "bounds", _interval, wrong)
    upper = _entries(parts.pop("upper_bounds", {}), "an upper bound", _size, wrong)
    stated = parts.pop("guards", [])
    if not isinstance(stated, list):
        wrong.append(f"{stated!r:.60} are not guards")
        stated = []
    guards = []
    for condition in stated:
        guard = _condition(condition)
        if guard is None:
            wrong.append(f"{condition!r:.200} is not a guard")
        else:
            guards.append(guard)
    wrong += [f"{name!r:.60} is not part of version {VERSION}" for name in parts]
    if len(wrong) > _MOST_TOLD:
        wrong[_MOST_TOLD:] = [f"{len(wrong) - _MOST_TOLD} other faults"]
    return Contract(bounds, tuple(guards), upper), wrong


def _entries(part: Any, what: str, read: Callable[[Any], Any], wrong: list[str]) -> dict[str, Any]:
    """The readable entries of an object by symbol."""
    if not isinstance(part, dict):
        wrong.append(f"{part!r:.60} is not an object of {what}")
        return {}
    entries: dict[str, Any] = {}
    for symbol, value in part.items():
        if (kept := read(value)) is None:
            is_one = what.startswith("an ")
            wrong.append(f"{value!r:.60} {'is' if is_one else 'are'} not {what} of {symbol!r:.60}")
        else:
            entries[symbol] = kept
    return entries


def _interval(ends: Any) -> tuple[int, int | None] | None:
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    low, high = ends
    is_one = type(low) is int and low >= 0 and (high is None or (type(high) is int and high >= low))
    return (low, high) if is_one else None


def _size(value: Any) -> Written | None:
    return value if type(value) is int or (isinstance(value, str) and value) else None


def _condition(stated: Any) -> Condition | None:
    """The guard of an object; None if a field is missing, unknown or of a wrong kind."""
    if not isinstance(stated, dict) or not {"relation", "left", "right"} <= stated.keys() <= set(Condition._fields):
        return None
    fields = {**Condition._field_defaults, **stated}
    nodes, filled = _rows(fields["nodes"]), _rows(fields["filled"])
    fits = (
        fields["relation"] in _RELATIONS
        and fields["kind"] in _KINDS
        and isinstance(fields["law"], str)
        and isinstance(fields["conditional"], bool)
        and not any(_size(size) is None for size in (fields["left"], fields["right"]))
        and nodes is not None
        and filled is not None
        and all(len(node) == 2 and all(isinstance(name, str) for name in node) for node in nodes)
        and not any(_size(size) is None for shape in filled for size in shape)
    )
    return Condition(**{**fields, "nodes": nodes, "filled": filled}) if fits else None


def _rows(value: Any) -> tuple[tuple[Any, ...], ...] | None:
    """A list of lists as tuples."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(row, list) for row in value):
        return None
    return tuple(map(tuple, value))
