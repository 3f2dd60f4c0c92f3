"""`check`: whether arrays or shapes keep the contract of a model, from its metadata alone.

Guards at elements that are no integers (2.5, infinity, NaN) are judged by their value, never rounded.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from onnx_infer.errors import ArgumentError, OnnxInferError, UnknownSymbol
from onnx_infer.model.contract import ELEMENT, Condition, Contract, Names, interval, written
from onnx_infer.model.given import KEY, contract_in
from onnx_infer.model.symbols import Symbols
from onnx_infer.protobuf.files import Source, read_model
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.results.guards import Guard, Violation, guard_of, violations
from onnx_infer.results.sizes import Broken, Sizes, linear_in
from onnx_infer.types.join import variables_in
from symdim import Expr, SymdimError
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.model.given import InFile
    from onnx_infer.model.graph import FrontEnd
    from symdim import Dim, Var


Number: TypeAlias = "int | Fraction | float"
"""A value of a side of a guard. A float is infinite, or NaN."""


def _elements(guards: Iterable[Guard], arrays: Mapping[str, Any]) -> dict[str, int | float]:
    """The elements of arrays that guards speak of, such as `k[0]`: integers, and floats that are none."""
    elements: dict[str, int | float] = {}
    flat: dict[str, Any] = {}
    for name in dict.fromkeys(v.name for guard in guards for v in guard.variables()):
        element = ELEMENT.fullmatch(name)
        if element is None or element[1] not in arrays:
            continue
        if element[1] not in flat:
            flat[element[1]] = arrays[element[1]].reshape(-1)
        row, place = flat[element[1]], int(element[2])
        value: Any = row[place] if place < len(row) else None
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            elements[name] = int(value)
        elif isinstance(value, float):
            elements[name] = value
    return elements


def _shown(number: Number) -> Any:
    """A value as messages have it."""
    return float(number) if isinstance(number, Fraction) and abs(number) < 2**53 else number


def _value(side: Dim, known: Mapping[Any, int], floats: Mapping[str, float]) -> Number | None:
    """The exact value of a side of a guard; None if it cannot be computed, such as a quotient of a float."""
    if isinstance(side, Expr):
        side = side.substitute({v: known[v.name] for v in side.variables() if v.name in known})
    if isinstance(side, int):
        return side
    variables = side.variables()
    parts = linear_in(side, variables[0]) if len(variables) == 1 and variables[0].name in floats else None
    if parts is None:
        return None
    factor, rest = parts
    assert isinstance(factor, int)  # there is no other variable
    assert isinstance(rest, int)
    value = floats[variables[0].name]
    return factor * (Fraction(value) if isfinite(value) else value) + rest


_RANGE = "declared range"
"""The law of the bounds of a symbol."""


class NoContractError(OnnxInferError):
    """The metadata of a model has no contract that can be read."""


class Verdict(NamedTuple):
    """What a contract says of some sizes.

    `sizes` are those of the symbols, `broken` the statements that do not hold. `unchecked` says what was not checked:
    axes and bounds of symbols whose sizes nothing gives, guards on sizes or elements that are not given, and what
    cannot be read.
    """

    sizes: Mapping[str, int]
    broken: Sequence[Broken]
    unchecked: Sequence[str]

    @property
    def ok(self) -> bool:
        """Whether everything was judged, and no statement is broken."""
        return not self.broken and not self.unchecked

    @property
    def runs(self) -> bool:
        """Whether everything was judged, and nothing is broken without which the model does not run.

        Results may have other sizes than the file says.
        """
        return not self.unchecked and all(broken.kind != "required" for broken in self.broken)

    def __str__(self) -> str:
        return "; ".join([*map(str, self.broken), *(f"not checked: {text}" for text in self.unchecked)]) or "ok"


def read(model: Source | Any) -> Contract:
    """The contract in the metadata of a model: a ModelProto, its bytes, a path or an `onnx_ir.Model`.

    The ranges of torch count where there is none. Raises `NoContractError` if there is nothing to read.
    """
    return _stated(contract_in(front_of(model)))


def check(model: Source | Any, feeds: Mapping[str, Any]) -> Verdict:
    """Whether a run with these inputs keeps the contract of a model. Nothing is inferred.

    `feeds` gives each input by name: an array (anything with `shape`, and maybe `dtype`), or its shape as a list or
    tuple. Elements of arrays are read where a guard asks for them. Raises `NoContractError` as `read`, and
    `ArgumentError` for a size that is no integer, or negative.

    >>> import onnx.parser, onnx_infer
    >>> model = onnx.parser.parse_model('''
    ... <ir_version: 10, opset_import: ["": 20]>
    ... g (float[N, H] x, float[M, 4] w) => (y) { y = MatMul (x, w) }''')
    >>> model = onnx_infer.infer(model, bounds={"N": (1, 64)}).apply(model, contract=True)
    >>> check(model, {"x": (2, 8), "w": (8, 4)}).ok
    True
    >>> for broken in check(model, {"x": (70, 8), "w": (9, 4)}).broken:
    ...     print(broken, broken.inputs)
    N = 70 is outside its declared range (N <= 64) ('x',)
    MatMul 'y': inner sizes of the product: H == M is violated (8 != 9) ('x', 'w')
    """
    judge = Judge(front_of(model))
    shapes: dict[str, Sequence[int | None]] = {}
    for name, fed in feeds.items():
        shape = fed if isinstance(fed, (list, tuple)) else getattr(fed, "shape", None)
        if shape is None:
            raise ArgumentError(f"feeds: {name!r} is neither an array nor a shape, but {type(fed).__name__}")
        shapes[name] = [_size(name, size) for size in shape]
        if hasattr(fed, "dtype"):
            judge.sizes.check_dtype(name, str(fed.dtype).rpartition(".")[2])
    judge.sizes.check_complete(feeds, judge.optional)
    return judge.verdict(shapes, {}, {name: fed for name, fed in feeds.items() if hasattr(fed, "reshape")})


class Judge:
    """The contract of a model, before sizes are known. Raises `NoContractError`."""

    def __init__(self, front: FrontEnd) -> None:
        self.contract = _stated(contract_in(front))
        graph = front.view(Symbols(*front.dim_params(), min_dim=0)).graph
        self.optional = graph.defaults.keys()
        self.sizes = Sizes(dict(graph.inputs))

    def verdict(
        self, shapes: Mapping[str, Sequence[int | None]], given: Mapping[str, int], arrays: Mapping[str, Any]
    ) -> Verdict:
        """What holds at these shapes of inputs and sizes of symbols. Raises `UnknownSymbol` for names of no symbol."""
        symbols = {v.name for kind in self.sizes.kinds.values() for v in variables_in(kind)}
        if unknown := given.keys() - symbols:
            raise UnknownSymbol("bind", unknown, symbols)
        self.sizes.read(shapes, given, self.contract.bounds, self.optional)
        names, guards = Names(), []
        unchecked = list(self.sizes.unchecked)
        conditions: list[Condition] = []
        for symbol in dict.fromkeys((*self.sizes.of, *self.contract.bounds)):
            low, high = self.contract.bounds.get(symbol, (1, None))
            conditions += interval(written(names.var(symbol)), low, high, _RANGE)
        for condition in (*conditions, *self.contract.guards):
            try:
                guards.append(guard_of(condition, names))
            except SymdimError as error:
                unchecked.append(f"{condition.relation} of {condition.left} and {condition.right}: {error}")
        told: dict[Any, Any] = {**self.sizes.of, **_elements(guards, arrays)}
        values = {name: size for name, size in told.items() if not isinstance(size, float)}
        floats = {name: size for name, size in told.items() if isinstance(size, float)}
        known, broken = [], list(self.sizes.broken)
        for guard in guards:
            if any(v.name in floats for v in guard.variables()):
                left, right = (_value(side, values, floats) for side in (guard.lhs, guard.rhs))
                if left is None or right is None:
                    unchecked.append(str(guard))
                elif not guard.condition.compares(left, right):
                    broken.append(self._broken(Violation(guard, _shown(left), _shown(right), guard.kind), told))
            elif _has_value(guard, values):
                known.append(guard)
            else:
                unchecked.append(str(guard))
        broken += [self._broken(violation, values) for violation in violations(known, values)]
        return Verdict(self.sizes.of, broken, unchecked)

    def _broken(self, violation: Violation, values: Mapping[Any, Any]) -> Broken:
        sizes = {v.name: values[v.name] for v in violation.guard.variables()}
        inputs = [
            element[1] if (element := ELEMENT.fullmatch(name)) else self.sizes.where.get(name, "") for name in sizes
        ]
        text = _out_of_range(violation) if violation.guard.law == _RANGE else str(violation)
        return Broken(text, violation.kind, sizes, tuple(filter(None, dict.fromkeys(inputs))))


def _out_of_range(violation: Violation) -> str:
    """A size outside the bounds of its symbol, and what allows a size that is too small."""
    guard, size = violation.guard, violation.lhs
    cure = (
        f"; write the contract with --bounds {guard.lhs}={size}.. to allow it" if guard.relation == "at_least" else ""
    )
    return printable(f"{guard.lhs} = {size} is outside its declared range ({guard}){cure}")


def _has_value(guard: Guard, values: Mapping[str | Var, int]) -> bool:
    """Whether all sizes in a guard are known, and all functions in it."""
    try:
        return guard.is_bound(values) and guard.condition.holds(values) is not None
    except SymdimError:
        return False


def _size(name: str, given: Any) -> int:
    """A size of an array or of a shape. Raises `ArgumentError` for what is none."""
    try:
        size = index(given)
    except TypeError:
        raise ArgumentError(f"feeds: {name!r} has the size {given!r:.60}, which is not an integer") from None
    if size < 0:
        raise ArgumentError(f"feeds: {name!r} has the size {size}, which is negative")
    return size


def front_of(model: Source | Any) -> FrontEnd:
    """The front end of a model of either kind. Raises `ArgumentError` for another object."""
    if type(model).__module__.partition(".")[0] == "onnx_ir":
        from onnx_infer.integrations.onnx_ir_reader import OnnxIRFrontEnd

        return OnnxIRFrontEnd(model)
    return ModelProtoFrontEnd(read_model(model))


def _stated(in_file: InFile) -> Contract:
    if in_file.contract is None:
        why = "; ".join(in_file.wrong) or f"metadata key {KEY!r}"
        raise NoContractError(f"the model has no contract ({why}); create one with apply(model, contract=True)")
    return in_file.contract
