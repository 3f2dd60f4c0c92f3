"""The contract of a result, as it is written into a file; docs/contract.md describes it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from onnx_infer.engine.assumptions import Assumptions
from onnx_infer.engine.declared import DECLARED_RANK
from onnx_infer.model.contract import ELEMENT, Condition, Contract, Names, written
from onnx_infer.model.graph import label_of, title_of
from onnx_infer.results.derived_guards import follows, key_of, name_in_file, plain_parts
from onnx_infer.results.guards import Guard, NodeName
from onnx_infer.results.sources import element_of, without_computed
from onnx_infer.types.join import variables_in
from onnx_infer.values.tensor import SymTensor
from symdim import Facts, SymdimError, Var
from symdim.guarantee import guarantee_of
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_infer.inference import Run
    from onnx_infer.results.inferred import Inferred

_MOST_ELEMENTS = 64
"""The most given elements of an input that become conditions."""


def contract_of(result: Inferred) -> Contract:
    """What a result says of the sizes of its model beyond their shapes, and what it was told."""
    record, given = result._record, result._run.given
    symbols = {v.name: v.bounds() for name in result.inputs for v in variables_in(result.types[name])}
    ends = {**{name: ends for name, ends in given.intervals().items() if name in record.symbols.names}, **symbols}
    bounds = {name: (low or 0, high) for name, (low, high) in ends.items() if (low, high) != (1, None)}
    bounds = {name: ends for name, ends in bounds.items() if name not in given.bound and not ELEMENT.fullmatch(name)}
    of_types = {guard for guard in result._judged.own if guard.kind == "declared"}
    guards = [guard for guard in result.guards if guard not in of_types]
    guards += _of_written_types(result, [guard for guard in result.guards if guard in of_types], guards)
    variables = [v for guard in guards for v in guard.variables()]
    elements = {v: Var.fresh(name_in_file(v)) for v in variables if name_in_file(v) != v.name}
    stated = [_written(guard._replace(condition=guard.condition.substitute(elements))) for guard in guards]
    upper = {}
    for name, symbol in sorted(result.symbols.items()):
        bound = guarantee_of(symbol)
        if name not in symbols and bound.kind == "upper_bound" and bound.size is not None:
            upper[name] = written(bound.size)
    return Contract(bounds, tuple(dict.fromkeys((*stated, *_given(result._run)))), upper)


def _of_written_types(result: Inferred, declared: Iterable[Guard], others: Iterable[Guard]) -> Iterator[Guard]:
    """The conditions under which the declared types hold that stay in the file: what ranks and numbers in them say.

    Without them results have other sizes than the file says, so they are assumed. Names of other sizes do not stay:
    what only these say is no part.
    """
    ranks = [guard for guard in declared if guard.law.startswith(DECLARED_RANK)]
    stated = {key_of(guard.condition) for guard in (*others, *ranks)}
    yield from (guard._replace(kind="assumed") for guard in ranks)
    symbols, inputs = result.sources.symbols, frozenset(result.inputs)
    resolve = result._record.sizes.fresh.resolve
    for value, number, inferred, node in result._record.declared.claims:
        kind = result.types.get(value)
        is_kept = isinstance(number, int) and isinstance(kind, SymTensor) and number in (kind.shape or ())
        if not is_kept or inferred is None:
            continue
        condition = Relation("equal", without_computed(resolve(inferred)), number)
        if not all(v in symbols or element_of(v, inputs) for v in condition.variables()):
            continue
        for part in plain_parts(condition):
            if key_of(part) not in stated:
                stated.add(key_of(part))
                origin = NodeName(title_of(node), label_of(node))
                yield Guard(part, f"declared of value '{value}'", (origin,), "assumed")


def _written(guard: Guard) -> Condition:
    filled = tuple([tuple(map(written, shape)) for shape in guard.filled])
    nodes = tuple([(origin.operator, origin.node) for origin in guard.origins])
    condition = guard.relation, written(guard.lhs), written(guard.rhs)
    return Condition(*condition, guard.law, guard.kind, nodes, guard.conditional, filled)


def _given(run: Run) -> Iterator[Condition]:
    """What the caller has given beyond intervals. Types and guards rest on it, so the file says it, too."""
    record, given, values = run.record, run.given, run.values
    names, known = Names(), record.symbols.known()
    plain = {name: names.var(name) for name in (*known, *given.bound, *given.elements)}
    in_file: dict[Relation, Condition] = {}
    for condition in run.in_file.guards:
        with suppress(SymdimError):  # those that can be read
            in_file[_bare(condition.read(names))] = condition
    stated = []
    for relation in Assumptions(given.relations, plain).relations:
        kind, left, right, _ = relation
        new = Condition(kind, written(left), written(right), "assumed by the caller", "declared")
        stated.append(in_file.get(_bare(relation), new))
    for condition in Contract(guards=tuple(stated)).substituted(given.bound).guards:
        relation = condition.read(names)
        bounded = relation.substitute({v: known.get(v.name, v) for v in relation.variables()})
        if bounded.kind == "equal" or not follows(bounded, Facts()):
            yield condition
    for name, value in values.items():
        array = np.asarray(value)
        if array.dtype.kind == "i" and array.size <= _MOST_ELEMENTS:
            for i, element in enumerate(array.ravel().tolist()):
                yield Condition("equal", written(names.var(f"{name}[{i}]")), element, "given by the caller", "declared")


def _bare(relation: Relation) -> Relation:
    """The normal form of a relation, without its origins."""
    return relation.normal()._replace(origins=frozenset())
