"""Two results side by side: two exports of one model, or a model before and after a pass.

*Equal* means that a run cannot tell the models apart by what is in the files: nodes, attributes, constants by their
bits, bodies, functions, opsets, types, guards, errors and warnings, inputs and outputs in their order. Names of inner
values, documentation and metadata are no difference; neither is the order of nodes as far as it does not matter.
Inputs and outputs are matched by name, the rest of them by position. What cannot be read makes the answer unknown.

*Symbols* of the second result get the names of the first result at the same axes of matched inputs. Data-dependent ones
are renamed likewise, by all matched values. Two sizes are equal if they are one canonical expression, or if the
prover proves it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from onnx_infer.operators.operator import operators_of
from onnx_infer.protobuf.reading import OVERRIDABLE, function_key, opset_imports
from onnx_infer.tools.comparison.contents import Contents
from onnx_infer.tools.comparison.differences import ConstantDifference, Differences, NodeDifference
from onnx_infer.tools.comparison.graphs import GraphNode, GraphValue, parts_first, read_graph
from onnx_infer.tools.comparison.matching import Numbering, Pairs
from onnx_infer.tools.comparison.types import Pair, TypeDifference, Types, with_causes, with_names
from onnx_infer.values.text import texts

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.inferred import Inferred

    Paths: TypeAlias = "tuple[str | os.PathLike[str] | None, str | os.PathLike[str] | None]"


class OperatorCount(NamedTuple):
    """An operator that occurs in the two models with different numbers of nodes."""

    operator: str
    first: int
    second: int


class Comparison(NamedTuple):
    """What differs between two results. Types and guards of the second one are in the symbols of the first one.

    `symbols`: name in the second result -> name in the first one, for symbols that were renamed. `renamed`: matched
    inputs and outputs with other names, and `renamed_values` the number of other values with other names. They are no
    differences. `not_read`: what could not be compared, and why.

    `model`: what differs in the file around the nodes: opsets, IR versions, functions, the order of inputs and outputs.
    `inputs`, `outputs` and `values` (all others): matched values whose types differ. `nodes`: matched nodes that
    differ, and `initializers` the constants. `only_first`, `only_second`: intermediate values without a match.
    `operators`: the operators with different numbers of nodes. `guards_first`, `guards_second`: the guards that
    the other result does not have; `diagnostics_first` and `diagnostics_second` likewise.
    """

    symbols: dict[str, str]
    renamed: dict[str, str]
    renamed_values: int
    not_read: list[str]
    model: list[str]
    inputs: list[TypeDifference]
    outputs: list[TypeDifference]
    values: list[TypeDifference]
    nodes: list[NodeDifference]
    initializers: list[ConstantDifference]
    only_first: list[str]
    only_second: list[str]
    operators: list[OperatorCount]
    guards_first: list[Guard]
    guards_second: list[Guard]
    diagnostics_first: list[Diagnostic]
    diagnostics_second: list[Diagnostic]

    @property
    def differs(self) -> bool:
        """Whether a difference was found, apart from names."""
        return any(self[4:])

    @property
    def is_equal(self) -> bool:
        """Whether a run cannot tell the models apart; False also if this is not known."""
        return not self.differs and not self.not_read


def compare(first: Inferred, second: Inferred, paths: Paths = (None, None)) -> Comparison:
    """Compare two results, for example those of two exports of one model.

    `paths`: where the models lie, for their external data. Without it, models with external data are never equal.

    >>> import onnx.parser, onnx_infer
    >>> text = '''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[%s] x) => (y) { %s = Softmax <axis = %d> (x) y = Transpose (%s) }'''
    >>> models = [onnx.parser.parse_model(text % parts) for parts in (("N, H", "u", 1, "u"), ("batch, 8", "v", 0, "v"))]
    >>> differences = compare(*map(onnx_infer.infer, models))
    >>> differences.symbols, [(a, b, str(s), str(t)) for a, b, s, t, _ in differences.values]
    ({'batch': 'N'}, [('u', 'v', 'f32[N, H]', 'f32[N, 8]')])
    >>> [(node.operator, node.what) for node in differences.nodes]
    [('Softmax', 'attribute axis: 1 -> 0')]
    """
    return _Comparison(first, second, paths).result()


class _Comparison:
    def __init__(self, first: Inferred, second: Inferred, paths: Paths) -> None:
        self.results = first, second
        self._types = Types(first, second)
        self._models = [result._message() for result in self.results]
        self._contents = [Contents(path) for path in paths]
        self._differences = Differences()
        self._counts: list[Counter[str]] = [Counter(), Counter()]
        self._model: list[str] = []
        self._unsure: list[str] = []

    def result(self) -> Comparison:
        first, second = self.results
        inputs = list(_paired(first.inputs, second.inputs))
        outputs = list(_paired(first.outputs, second.outputs))
        self._types.rename(inputs, data_dependent=False)
        self._heads(inputs, outputs)
        matched = self._graphs([model.graph for model in self._models], inputs, outputs)
        self._functions()
        ends = {*inputs, *outputs}
        inner = [(a.name, b.name) for a, b in matched if (a.name, b.name) not in ends]
        self._types.rename([*outputs, *inner], data_dependent=True)
        names = {b: a for a, b in (*inputs, *outputs) if a is not None and b is not None}
        names = {**self._differences.names, **names}
        self._types.rename_by(names)
        types = [self._types.differences(pairs) for pairs in (inputs, outputs, inner)]
        types_of_inputs, types_of_outputs, types_of_values = with_causes(types, [a for a, _ in matched])
        titles = sorted(self._counts[0] | self._counts[1])
        counts = [OperatorCount(title, *(count[title] for count in self._counts)) for title in titles]
        differences = self._differences
        return Comparison(
            self._types.names,
            {b: a for a, b in (*inputs, *outputs) if a is not None and b is not None and a != b},
            sum(a != b for a, b in inner),
            list(dict.fromkeys(reason for contents in self._contents for reason in contents.not_read)) + self._unsure,
            self._model,
            types_of_inputs,
            types_of_outputs,
            types_of_values,
            differences.nodes,
            differences.constants,
            *differences.only,
            [count for count in counts if count.first != count.second],
            *self._types.guards(),
            *self._diagnostics(names),
        )

    def _heads(self, inputs: list[Pair], outputs: list[Pair]) -> None:
        """Compare what stands around the graphs: versions, and the order of inputs and outputs."""
        first, second = self._models
        if first.ir_version != second.ir_version:
            self._model.append(f"IR version {first.ir_version} -> {second.ir_version}")
        self._opsets("", *(opset_imports(model) for model in self._models))
        if list(map(_bytes, first.training_info)) != list(map(_bytes, second.training_info)):
            self._model.append("training_info")
        for what, pairs, names in (
            ("inputs", inputs, self.results[1].inputs),
            ("outputs", outputs, self.results[1].outputs),
        ):
            matched = [b for _, b in pairs if b is not None]
            if matched != names and sorted(matched) == sorted(names):
                self._model.append(f"the {what} are in another order: {', '.join(matched)} -> {', '.join(names)}")

    def _opsets(self, place: str, ours: Mapping[str, int], theirs: Mapping[str, int]) -> None:
        for domain in sorted(ours.keys() | theirs.keys()):
            if (was := ours.get(domain)) != (now := theirs.get(domain)):
                told = " -> ".join("none" if version is None else str(version) for version in (was, now))
                self._model.append(f"{place}opset of {domain or 'ai.onnx'}: {told}")

    def _functions(self) -> None:
        """Compare the functions of one domain, name and overload."""
        ours, theirs = ({function_key(f): f for f in model.functions} for model in self._models)
        for key in sorted(ours.keys() | theirs.keys()):
            place = f"function {'::'.join(filter(None, key))}"
            if key not in ours or key not in theirs:
                self._model.append(f"{place} is {'new' if key not in ours else 'left out'}")
                continue
            pair = first, second = ours[key], theirs[key]
            self._opsets(f"{place}: ", *(opset_imports(function) for function in pair))
            declared = [(sorted(texts(f.attribute)), sorted(map(_bytes, f.attribute_proto))) for f in pair]
            if declared[0] != declared[1]:
                self._model.append(f"{place}: other attributes")
            for what in ("input", "output"):
                counts = [len(getattr(function, what)) for function in pair]
                if counts[0] != counts[1]:
                    self._model.append(f"{place}: {counts[0]} -> {counts[1]} {what}s")
            inputs = zip(texts(first.input), texts(second.input), strict=False)
            self._graphs([first, second], inputs, zip(texts(first.output), texts(second.output), strict=False), place)

    def _graphs(
        self, protos: list[Any], inputs: Iterable[Pair], outputs: Iterable[Pair], place: str = ""
    ) -> list[tuple[GraphValue, GraphValue]]:
        """Compare the graphs of two models, or of two functions; returns the matched values of their nodes."""
        graphs = []
        for proto, model, contents in zip(protos, self._models, self._contents, strict=True):
            operators = operators_of(opset_imports(proto if place else model))
            graphs.append(read_graph(proto, operators, contents, place, model.ir_version < OVERRIDABLE))
        first, second = graphs
        starts = list(_values_of(inputs, first.inputs, second.inputs))
        places = [{pair[side]: i for i, pair in enumerate(starts)} for side in (0, 1)]
        numbering = Numbering()
        pairs = Pairs((numbering.of(first, places[0]), numbering.of(second, places[1])))
        for count, graph in zip(self._counts, graphs, strict=True):
            count.update(part.operator for part in parts_first(graph) if isinstance(part, GraphNode))
        before = len(self._differences)
        for a, b in starts:
            pairs.add(a, b)
            self._default(a, b)
        ends = list(_values_of(outputs, first.outputs, second.outputs))
        matched = self._differences.walk(first, second, pairs, ends)
        others = [a.name for a, b in ends if not pairs.are_same(a, b) and not self._differences.constant(a, b)]
        if others:
            are = "are other values" if len(others) > 1 else "is another value"
            self._model.append(f"{place and place + ': '}{', '.join(others)} of the outputs {are}")
        is_proved = pairs.same[0][first] == pairs.same[1][second]
        if not is_proved and len(self._differences) == before and not self._model:
            self._unsure.append(f"{place or 'the graph'}: what random nodes or nodes in a cycle give")
        return matched

    def _default(self, ours: GraphValue, theirs: GraphValue) -> None:
        """Compare the defaults of an input."""
        if ours.constant and theirs.constant:
            self._differences.constant(ours, theirs)
        elif ours.constant or theirs.constant:
            self._model.append(f"input {ours.name!r}: its default is {'left out' if ours.constant else 'new'}")

    def _diagnostics(self, names: Mapping[str, str]) -> tuple[list[Diagnostic], list[Diagnostic]]:
        """The errors and warnings that the other result does not have. Their texts may name values and symbols."""
        names = {**names, **self._types.names}

        def key(told: Diagnostic, names: Mapping[str, str]) -> tuple[str, ...]:
            texts = (told.severity, told.operator, told.node, told.message, str(told.inputs))
            return tuple(with_names(text, names) for text in texts)

        ours = [(key(told, {}), told) for told in self.results[0].diagnostics]
        theirs = [(key(told, names), told) for told in self.results[1].diagnostics]
        known = [Counter(key for key, _ in side) for side in (ours, theirs)]
        return [d for key, d in ours if known[0][key] > known[1][key]], [
            d for key, d in theirs if known[1][key] > known[0][key]
        ]


def _paired(first: list[str], second: list[str]) -> Iterator[Pair]:
    """The names of both lists in pairs: equal names, then the others by their order."""
    both = set(first) & set(second)
    rest = [name for name in second if name not in both]
    for name in first:
        yield name, name if name in both else rest.pop(0) if rest else None
    yield from ((None, name) for name in rest)


def _bytes(message: Any) -> bytes:
    return message.SerializeToString(deterministic=True)  # type: ignore[no-any-return]


def _values_of(
    pairs: Iterable[Pair], first: list[GraphValue], second: list[GraphValue]
) -> Iterator[tuple[GraphValue, GraphValue]]:
    """The values of paired names."""
    ours, theirs = ({value.name: value for value in side} for side in (first, second))
    yield from ((ours[a], theirs[b]) for a, b in pairs if a in ours and b in theirs)
