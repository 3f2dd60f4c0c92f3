"""Two results side by side: two exports of one model, or a model before and after a pass.

*Values* are matched by name first. The other ones are matched by their structure: the same operator with the same
attributes on matched operands. If several have the same structure, the first one is matched with the first one, and so
on. Inputs and outputs are matched by name, the rest of them by position.

*Symbols* of the second result get the names of the first result at the same axes of matched inputs. Data-dependent ones
are renamed likewise, by all matched values. Two sizes are equal if they are one canonical expression, or if the
prover proves it.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from onnx_infer.model.graph import title_of
from onnx_infer.results.inferred import Inferred, schedule
from onnx_infer.tools.report.layout import limited, text_of
from onnx_infer.tools.report.plain_data import guard_json, head_json, type_json
from onnx_infer.tools.report.table import guard_parts
from onnx_infer.types.merge import size_pairs
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Optional, Sequence, Value, substitute
from symdim import Var, equal
from symdim.algebra.origin import is_data_dependent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_infer.results.guards import Guard

Pair: TypeAlias = "tuple[str | None, str | None]"
"""A value of the first result and its match in the second one; None if there is none."""


class TypeDifference(NamedTuple):
    """Two matched values whose types differ. A name and its type are None if this result has no such value."""

    first: str | None
    second: str | None
    first_type: Value | None
    second_type: Value | None


class OperatorCount(NamedTuple):
    """An operator that occurs in the two models with different numbers of nodes."""

    operator: str
    first: int
    second: int


class Comparison(NamedTuple):
    """What differs between two results. Types and guards of the second one are in the symbols of the first one.

    `symbols`: name in the second result -> name in the first one, for symbols that were renamed. `inputs`, `outputs`
    and `values` (all others): matched values whose types differ. `only_first`, `only_second`: inner values without a
    match. `operators`: the operators with different numbers of nodes. `guards_first`, `guards_second`: the guards that
    the other result does not have.
    """

    symbols: dict[str, str]
    inputs: list[TypeDifference]
    outputs: list[TypeDifference]
    values: list[TypeDifference]
    only_first: list[str]
    only_second: list[str]
    operators: list[OperatorCount]
    guards_first: list[Guard]
    guards_second: list[Guard]

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs, apart from names of values and symbols."""
        return not any(self[1:])


def compare(first: Inferred, second: Inferred) -> Comparison:
    """Compare two results, for example those of two exports of one model.

    >>> import onnx.parser, onnx_infer
    >>> text = '<ir_version: 8, opset_import: ["": 17]> g (float[%s] x) => (y) { %s = Relu (x) y = Transpose (%s) }'
    >>> models = [onnx.parser.parse_model(text % parts) for parts in (("N, H", "u", "u"), ("batch, 8", "v", "v"))]
    >>> found = compare(*map(onnx_infer.infer, models))
    >>> found.symbols, [(a, b, str(s), str(t)) for a, b, s, t in found.values]
    ({'batch': 'N'}, [('u', 'v', 'f32[N, H]', 'f32[N, 8]')])
    """
    return _Comparison(first, second).result()


class _Comparison:
    def __init__(self, first: Inferred, second: Inferred) -> None:
        self.results = first, second
        self.renamed: dict[Var, Dim] = {}
        self._taken: set[Dim] = set()
        self._equal: dict[tuple[Dim, Dim], bool] = {}

    def result(self) -> Comparison:
        first, second = self.results
        inputs = list(_paired(first.inputs, second.inputs))
        self._rename(inputs, data_dependent=False)
        outputs = list(_paired(first.outputs, second.outputs))
        given = [[name for node in schedule(r) for name in node[3] if name in r.types] for r in self.results]
        inner = _inner_pairs(self.results, given, inputs, outputs)
        self._rename([*outputs, *inner], data_dependent=True)
        paired = [{pair[side] for pair in (*outputs, *inner)} for side in (0, 1)]
        counts = [Counter(map(title_of, schedule(r))) for r in self.results]
        operators = [
            OperatorCount(title, counts[0][title], counts[1][title]) for title in sorted(counts[0] | counts[1])
        ]
        ours = [*first.guards, *first.data_guards]
        theirs = [_renamed(guard, self.renamed) for guard in (*second.guards, *second.data_guards)]
        return Comparison(
            {v.name: str(to) for v, to in self.renamed.items() if v.name != str(to)},
            self._differences(inputs),
            self._differences(outputs),
            self._differences(inner),
            [name for name in given[0] if name not in paired[0]],
            [name for name in given[1] if name not in paired[1]],
            [count for count in operators if count.first != count.second],
            _without(ours, theirs),
            _without(theirs, ours),
        )

    def _rename(self, pairs: Iterable[Pair], *, data_dependent: bool) -> None:
        """Rename symbols of the second result to those of the first one at the same axes of paired values."""
        for a, b in pairs:
            for ours, theirs in size_pairs(self._type(0, a), self._type(1, b)):
                if not (isinstance(ours, Var) and isinstance(theirs, Var)) or UNKNOWN_SIZE in (ours, theirs):
                    continue
                is_new = theirs not in self.renamed and ours not in self._taken
                if is_new and (not data_dependent or is_data_dependent(ours.origin)):
                    self.renamed[theirs] = ours
                    self._taken.add(ours)

    def _type(self, side: int, name: str | None) -> Value | None:
        return None if name is None else self.results[side].types.get(name)

    def _differences(self, pairs: Iterable[Pair]) -> list[TypeDifference]:
        found = []
        for a, b in pairs:
            ours, theirs = self._type(0, a), self._type(1, b)
            if theirs is not None:
                theirs = substitute(theirs, self.renamed)
            if ours is not theirs and not self._are_alike(ours, theirs):
                found.append(TypeDifference(a, b, ours, theirs))
        return found

    def _are_alike(self, ours: Value | None, theirs: Value | None) -> bool:
        """Whether two types have the same kinds, element types and sizes. Known elements are not compared."""
        if ours is None or theirs is None or _kind(ours) != _kind(theirs):
            return False
        return all(self._are_equal(a, b) for a, b in size_pairs(ours, theirs))

    def _are_equal(self, a: Dim, b: Dim | None) -> bool:
        if b is None or isinstance(a, int) or isinstance(b, int) or a is b:
            return a == b
        if (a, b) not in self._equal:
            self._equal[a, b] = equal(a, b) is True
        return self._equal[a, b]


def _kind(value: Value) -> tuple[object, ...]:
    """The kind of a type, of the types in it, the element type, and the rank."""
    kinds: list[object] = [type(value)]
    while isinstance(value, (Sequence, Optional)) and value.elem is not None:
        value = value.elem
        kinds.append(type(value))
    shape = getattr(value, "shape", None)
    return *kinds, getattr(value, "dtype", None), None if shape is None else len(shape)


def _renamed(guard: Guard, symbols: Mapping[Var, Dim]) -> Guard:
    return guard._replace(condition=guard.condition.substitute(symbols))


def _without(guards: list[Guard], others: list[Guard]) -> list[Guard]:
    """The guards whose conditions the others do not have."""
    known = {(guard.condition, guard.kind) for guard in others}
    return [guard for guard in guards if (guard.condition, guard.kind) not in known]


def _paired(first: list[str], second: list[str]) -> Iterator[Pair]:
    """The names of both lists in pairs: equal names, then the others by their order."""
    both = set(first) & set(second)
    rest = [name for name in second if name not in both]
    for name in first:
        yield name, name if name in both else rest.pop(0) if rest else None
    yield from ((None, name) for name in rest)


def _inner_pairs(
    results: tuple[Inferred, Inferred], given: list[list[str]], inputs: list[Pair], outputs: list[Pair]
) -> list[Pair]:
    """The other values that nodes give, matched: equal names, then equal structures."""
    ends = [{pair[side] for pair in outputs} for side in (0, 1)]
    first, second = ([name for name in names if name not in end] for names, end in zip(given, ends, strict=True))
    same = set(first) & set(second)
    numbers: dict[object, int] = {}
    structures = [
        _structures(result, {pair[side]: i for i, pair in enumerate(inputs)}, numbers)
        for side, result in enumerate(results)
    ]
    waiting: dict[int, deque[str]] = {}
    for name in second:
        if name not in same:
            waiting.setdefault(structures[1][name], deque()).append(name)
    pairs: list[Pair] = []
    for name in first:
        if name in same:
            pairs.append((name, name))
        elif alike := waiting.get(structures[0][name]):
            pairs.append((name, alike.popleft()))
    return pairs


def _structures(result: Inferred, inputs: Mapping[str | None, int], numbers: dict[object, int]) -> dict[str, int]:
    """The number of each value. Values of the same structure have the same number."""
    found: dict[str, int] = {}

    def number(*key: object) -> int:
        return numbers.setdefault(key, len(numbers))

    for node in schedule(result):
        op_type, domain, operands, outputs, attributes, _ = node
        for name in operands:
            if name not in found:
                place = inputs.get(name)
                found[name] = number("constant", result.types.get(name)) if place is None else number("input", place)
        call = number(domain, op_type, attributes, tuple(found[name] for name in operands))
        found.update((name, number("output", call, i)) for i, name in enumerate(outputs))
    return found


def differences_text(found: Comparison, limit: int | None, width: int | None) -> str:
    """What differs, section by section: `-` is only in the first model, `+` only in the second one."""
    if found.is_equal:
        return "the two models do not differ"
    sections = [
        ("symbols of the second model:", [f"  {theirs} is {ours}" for theirs, ours in found.symbols.items()]),
        ("inputs:", _types(found.inputs)),
        ("outputs:", _types(found.outputs)),
        ("inner values:", _types(found.values)),
        ("operators:", [f"  {op}: {first} -> {second}" for op, first, second in found.operators]),
        (f"{len(found.only_first)} values of the first model alone:", [f"- {name}" for name in found.only_first]),
        (f"{len(found.only_second)} values of the second model alone:", [f"+ {name}" for name in found.only_second]),
        ("guards:", _guards("-", found.guards_first) + _guards("+", found.guards_second)),
    ]
    return text_of(([heading, *limited(lines, limit)] for heading, lines in sections if lines), width)


def _guards(sign: str, guards: list[Guard]) -> list[str]:
    return [f"{sign}{''.join(guard_parts(guard))[1:]}" for guard in guards]


def _types(differences: list[TypeDifference]) -> list[str]:
    lines = []
    for first, second, ours, theirs in differences:
        if first is not None and second is not None:
            name = first if first == second else f"{first} / {second}"
            lines += [f"  {name}: {ours}", f"  {'':{len(name)}}  {theirs}"]
        else:
            lines.append(f"- {first}: {ours}" if second is None else f"+ {second}: {theirs}")
    return lines


def differences_json(found: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        **head_json(),
        "equal": found.is_equal,
        "symbols": found.symbols,
        "inputs": _types_json(found.inputs),
        "outputs": _types_json(found.outputs),
        "values": _types_json(found.values),
        "only_first": found.only_first,
        "only_second": found.only_second,
        "operators": [count._asdict() for count in found.operators],
        "guards_first": [guard_json(guard) for guard in found.guards_first],
        "guards_second": [guard_json(guard) for guard in found.guards_second],
    }


def _types_json(differences: list[TypeDifference]) -> list[dict[str, Any]]:
    return [
        {
            "first": first,
            "second": second,
            "first_type": None if first is None else type_json(ours),
            "second_type": None if second is None else type_json(theirs),
        }
        for first, second, ours, theirs in differences
    ]
