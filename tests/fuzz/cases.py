"""Nodes of every operator and version: the operator cases, with inputs that the model has or gets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from onnx_infer import Sparse, SymTensor, testing
from onnx_infer.model.graph import normal_domain
from symdim import Expr, SymdimError, Var
from tests.fuzz.growing import FED, dtype_of, random_array
from tests.onnx_infer.node_cases import CASES, SUBGRAPHS, attribute_proto, tensor_proto, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.values.tensor import Dim, Value
    from tests.fuzz.growing import Scope

SIZES = (1, 2, 2, 3, 4, 6, 8)


class Case:
    """One operator case: a node, and the types of its inputs over symbols."""

    def __init__(self, line: str) -> None:
        text, expected = line.rsplit("->", 1)
        call = testing.read_call(text)
        self.line, self.domain = line, normal_domain(call.domain)
        _, self.name, self.version, self.attributes, self.inputs = call
        self.output_count = len(testing.split(expected))

    def fits(self, opset: int) -> bool:
        """Whether this version of the operator is the one of the opset, and every input can be made."""
        known = [v for v in versions().get((self.domain, self.name), []) if v <= opset]
        is_version = self.domain == "com.microsoft" or (bool(known) and known[-1] == self._since)
        tensors = [x for x in self.attributes.values() if isinstance(x, SymTensor)]
        is_made = not any(isinstance(x, Sparse) for x in self.attributes.values())
        is_made &= all(x.data is not None and all(isinstance(d, int) for d in x.shape or ()) for x in tensors)
        return is_version and is_made and self.name not in SUBGRAPHS and all(map(_can_be_made, self.inputs))

    @property
    def schema(self) -> onnx.defs.OpSchema | None:
        """onnx's schema; None for an operator that onnx does not know."""
        return onnx.defs.get_schema(self.name, self._since, self.domain) if self._since else None

    @property
    def _since(self) -> int:
        return max((v for v in versions().get((self.domain, self.name), []) if v <= self.version), default=0)


@cache
def cases() -> list[Case]:
    """The operator cases that are no errors, in order."""
    texts = [line.strip() for path in sorted(CASES.glob("*.txt")) for line in path.read_text("utf-8").splitlines()]
    return [Case(text) for text in texts if text and text[0] != "#" and "error: " not in text]


@cache
def fitting(opset: int, ml_opset: int) -> dict[tuple[str, str], list[Case]]:
    """Operator -> its cases for a model of these versions of ai.onnx and ai.onnx.ml."""
    out: dict[tuple[str, str], list[Case]] = {}
    for case in cases():
        if case.fits(ml_opset if case.domain == "ai.onnx.ml" else opset):
            out.setdefault((case.domain, case.name), []).append(case)
    return out


def _can_be_made(value: Value | None) -> bool:
    if value is None:
        return True
    if not isinstance(value, SymTensor) or value.dtype is None or value.shape is None:
        return False
    plain = all(isinstance(x, (int, float, str, bool, Expr)) for x in value.data or ())
    return plain and all(isinstance(d, (int, Expr)) for d in value.shape)


def from_case(scope: Scope) -> None:
    """A node of a random operator."""
    rng, grower = scope.grower.rng, scope.grower
    table = fitting(grower.opset, grower.ml_opset)
    attempt(scope, rng.choice(table[rng.choice(sorted(table))]))


def attempt(scope: Scope, case: Case) -> None:
    """A node of a case."""
    grower = scope.grower
    sizes: dict[str, int] = {}
    names = [_operand(scope, value, sizes, case) for value in case.inputs]
    if None in names:
        return
    node = helper.make_node(case.name, [str(n) for n in names], [], domain=case.domain)
    node.output.extend(grower.name() for _ in range(case.output_count))
    node.attribute.extend(attribute_proto(case.schema, k, v) for k, v in case.attributes.items())
    scope.attempt(node)


def _operand(scope: Scope, value: Value | None, sizes: dict[str, int], case: Case) -> str | None:
    """A value of the case's type: one that is there, a constant or a new input. None if there cannot be one."""
    if value is None:
        return ""
    assert isinstance(value, SymTensor)
    if value.data is not None:
        return _constant(scope, value, sizes)
    rng = scope.grower.rng
    if rng.random() < 0.6:
        chosen = scope.pick(lambda array: _unified(value, array, sizes) is not None)
        if chosen is not None:
            sizes.update(_unified(value, scope.arrays[chosen], sizes) or {})
            return chosen
    known = [at(dim, sizes, rng) for dim in value.shape or ()]
    if not all(size is not None and 0 <= size <= 64 for size in known):
        return None
    plain = [int(size or 0) for size in known]
    is_fed = scope is scope.grower.scope and value.dtype in FED and len(scope.grower.inputs) <= 8
    if not is_fed or rng.random() < 0.3:
        array = random_array(value.dtype or 1, plain, rng)
        return scope.constant(array, array.dtype)
    is_symbol = [isinstance(dim, Expr) and rng.random() < 0.7 for dim in value.shape or ()]
    dims = [Var(scope.grower.symbol(n)) if symbol else n for n, symbol in zip(plain, is_symbol, strict=True)]
    return scope.grower.input(value.dtype or 1, dims)


def _constant(scope: Scope, value: SymTensor, sizes: dict[str, int]) -> str | None:
    """The elements of the case as a constant; those that are expressions at the sizes."""
    rng = scope.grower.rng
    shape = [at(d, sizes, rng) for d in value.shape or ()]
    data = [at(x, sizes, rng) if isinstance(x, Expr) else x for x in value.data or ()]
    if None in shape or None in data:
        return None
    tensor = tensor_proto(SymTensor(value.dtype, [int(d or 0) for d in shape], data))
    return scope.constant(onnx.numpy_helper.to_array(tensor), onnx.numpy_helper.to_array(tensor).dtype)


def at(dim: Dim, sizes: dict[str, int], rng: Any) -> int | None:
    """The size where every symbol has one; symbols without one get one. None if there is no size."""
    if isinstance(dim, int):
        return dim
    for variable in dim.variables():
        if variable.name not in sizes:
            sizes[variable.name] = rng.choice(SIZES)
    try:
        return dim.to_int({v: sizes[v.name] for v in dim.variables()})
    except (SymdimError, ValueError):  # a division by 0, a symbol outside its bounds
        return None


def _unified(value: SymTensor, array: Any, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """The sizes of the symbols by which an array has the type; None if it has not."""
    shape = value.shape or ()
    if not isinstance(array, np.ndarray) or array.ndim != len(shape) or dtype_of(array) != value.dtype:
        return None
    found = dict(sizes)
    for dim, size in zip(shape, array.shape, strict=True):
        if isinstance(dim, Var):
            known: int | None = found.setdefault(dim.name, size)
        elif isinstance(dim, Expr):
            known = at(dim, found, None) if {v.name for v in dim.variables()} <= found.keys() else None
        else:
            known = dim
        if known != size:
            return None
    return found
