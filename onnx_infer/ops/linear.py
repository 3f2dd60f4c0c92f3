"""Linear algebra: matrix products, Gemm, Einsum, determinants."""

from __future__ import annotations

import re
from functools import reduce
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements import arithmetic
from onnx_infer.elements.ratio import Ratio
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.granularity import demand_fit, demand_for_columns
from onnx_infer.laws.sizes import broadcast, broadcast_size, broadcast_to, confirm_shape, of_rank, unify
from onnx_infer.laws.statements import conflicting, fresh
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import uncounted
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank, AnyRanks, Scales, SymTensor
    from onnx_infer.values.tensor import Dim, Shape

    Array = np.ndarray[Any, Any]

_MAX_PRODUCTS = 4096
"""The most products of elements that are computed for one matrix product."""


def matmul_shape(a: Shape, b: Shape) -> Shape:
    """(*batch, M, K), (*batch, K, N) -> (*batch, M, N) as numpy.matmul. If a is a vector there is no M; if b is, no N.

    >>> from symdim import Var
    >>> matmul_shape((Var("B"), Var("M"), 4), (4, 5)), matmul_shape((4,), (7, 4, 5))
    ((B, M, 5), (7, 5))
    """
    require(a and b, "an operand of the product is a scalar")
    unify(a[-1], b[-2:][0], "inner sizes of the product")
    return (*broadcast(a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def matrix_product(inputs: Shapes, outputs: Shapes, attributes: Attributes) -> Dim:
    """Multiply-adds: the elements of the result times the inner size."""
    a: Any = inputs[0]
    return product((*outputs[0], a[-2] if attributes.get("transA") and len(a) > 1 else a[-1]))  # type: ignore[misc]


def _matmul(A: Array, B: Array) -> Array:
    left = A[np.newaxis, :] if A.ndim == 1 else A
    right = B[:, np.newaxis] if B.ndim == 1 else B
    if any(isinstance(x, (float, Ratio)) for x in chain(A.flat, B.flat)):
        raise Unknown("a sum of floats is rounded in an order that runtimes choose")
    if not 0 < left.shape[-1] * left.size * right.shape[-1] <= _MAX_PRODUCTS:
        raise Unknown("the product has too many terms")
    products = arithmetic.MULTIPLY(left[..., :, :, np.newaxis], right[..., np.newaxis, :, :])
    out: Array = reduce(arithmetic.ADD, np.moveaxis(products, -2, 0))
    return out.reshape(matmul_shape(A.shape, B.shape))


def _matmul_integer(A: Array, B: Array, a_zero_point: Array | None, b_zero_point: Array | None) -> Array:
    for zero in (a_zero_point, b_zero_point):
        if zero is not None and any(x != 0 for x in zero.flat):
            raise Unknown("a zero point is not 0")
    return _matmul(A, B)


@op("MatMul", data=_matmul, cost=matrix_product, packs=True)
def matmul(A: SymTensor, B: SymTensor) -> Shape:
    """(*batch, M, K), (*batch, K, N) -> (*batch, M, N) (MatMul-1 to 13)."""
    return matmul_shape(A.dims, B.dims)


@op("MatMulInteger", data=_matmul_integer, cost=matrix_product)
def matmul_integer(A: SymTensor, B: SymTensor, scales: Scales) -> Shape:
    """As MatMul, for integers; a zero point for A, one for B or for each of its columns (MatMulInteger-10)."""
    shape = matmul_shape(A.dims, B.dims)
    demand_fit(A.dims, scales, "a_zero_point", rows=A.dims[-2:-1])
    demand_for_columns(shape, B.dims, scales, "b_zero_point")
    return shape


@op("QLinearMatMul", cost=matrix_product)
def qlinear_matmul(a: SymTensor, b: SymTensor, scales: Scales) -> Shape:
    """(*batch, M, K), (*batch, K, N) -> (*batch, M, N); parameters as MatMulInteger's (QLinearMatMul-10, 21)."""
    shape = matmul_shape(a.dims, b.dims)
    rows = a.dims[-2:-1]
    demand_fit(a.dims, scales, "a_zero_point", rows=rows)
    demand_fit(shape, scales, "a_scale", "y_scale", "y_zero_point", rows=rows)
    demand_for_columns(shape, shape, scales, "b_scale")
    demand_for_columns(shape, b.dims, scales, "b_zero_point")
    return shape


def _gemm(A: Array, B: Array, C: Array | None, transA: int, transB: int, alpha: float, beta: float,
          broadcast: int = 1) -> Array:  # fmt: skip
    if alpha != 1 or (beta != 1 and C is not None):
        raise Unknown("a scaled product of integers is rounded as runtimes choose")
    out = _matmul(A.T if transA else A, B.T if transB else B)
    return out if C is None else np.asarray(arithmetic.ADD(out, C), dtype=object)


@op("Gemm", data=_gemm, cost=matrix_product, packs=True)
def gemm(A: AnyRank, B: AnyRank, C: AnyRank | None, transA: int = 0, transB: int = 0, broadcast: int = 1) -> Shape:
    """(M, K), (K, N), C that broadcasts to (M, N) -> (M, N). Before opset 7 only with `broadcast` (Gemm-1 to 13)."""
    left, right = of_rank(A.shape, 2, "A"), of_rank(B.shape, 2, "B")
    rows, inner = reversed(left) if transA else left
    other, columns = reversed(right) if transB else right
    unify(inner, other, "inner sizes of the product")
    if C is None or C.shape is None:
        return rows, columns
    if not broadcast:
        return confirm_shape((rows, columns), C.shape, "shapes of the product and C")
    return broadcast_to((rows, columns), C.shape, "C")


@op("Det", cost=uncounted)
def det(X: SymTensor) -> Shape:
    """(*batch, M, M) -> batch (Det-11, 22)."""
    require(X.rank >= 2, "a matrix has at least 2 axes", X.rank)
    unify(X.dims[-2], X.dims[-1], "rows and columns of the matrix")
    return X.dims[:-2]


# -- Einsum -----------------------------------------------------------------------------------------------------------


def _einsum(Inputs: tuple[Array, ...], equation: str) -> Array:
    """The products of all operands, summed over the labels that the output does not have. For integers only."""
    terms, output = read_equation(equation)
    covered = next((x.ndim - len(t) + 1 for t, x in zip(terms, Inputs, strict=True) if "..." in t), 0)
    named = [_expanded(term, covered) for term in terms]
    out = _expanded(_implicit_output(terms) if output is None else output, covered)
    labels = [*out, *dict.fromkeys(label for term in named for label in term if label not in out)]
    if any(len(set(term)) < len(term) for term in named):
        raise Unknown("a diagonal")
    if any(isinstance(x, (float, Ratio)) for x in chain.from_iterable(a.flat for a in Inputs)):
        raise Unknown("a sum of floats is rounded in an order that runtimes choose")
    aligned = []
    for term, x in zip(named, Inputs, strict=True):
        order = sorted(range(len(term)), key=lambda i: labels.index(term[i]))
        present = {term[i]: x.shape[i] for i in order}
        aligned.append(x.transpose(order).reshape([present.get(label, 1) for label in labels]))
    shape = np.broadcast_shapes(*(x.shape for x in aligned))
    if not 0 < prod(shape) <= _MAX_PRODUCTS:
        raise Unknown("the sum has too many terms")
    result = np.broadcast_to(np.asarray(reduce(arithmetic.MULTIPLY, aligned), dtype=object), shape)
    for _ in labels[len(out) :]:
        result = np.asarray(reduce(arithmetic.ADD, np.moveaxis(result, -1, 0)), dtype=object)
    return result


def _products(inputs: Shapes, _: Shapes, attributes: Attributes) -> Dim:
    """Multiply-adds: the sizes of all labels, times (operands - 1). All operands are contracted at once."""
    terms, _output = read_equation(attributes["equation"])
    sizes: dict[object, Dim] = {}
    for term, shape in zip(terms, inputs, strict=False):
        covered = len(shape) - len(term) + 1  # type: ignore[arg-type]
        labels: list[object] = []
        for label in term:
            labels += [label] if label != "..." else [k - covered for k in range(covered)]
        for axis, size in zip(labels, shape, strict=True):  # type: ignore[arg-type]
            sizes[axis] = broadcast_size(sizes[axis], size) if axis in sizes else size
    return product(sizes.values()) * (len(terms) - 1)


@op("Einsum", data=_einsum, cost=_products)
def einsum(Inputs: AnyRanks, equation: str) -> Shape:
    """The labels of the output term, each with the broadcast size of its axes (Einsum-12, 28)."""
    terms, output = read_equation(equation)
    require(len(terms) == len(Inputs), "terms of the equation and inputs differ in number", len(terms), len(Inputs))
    covered = [
        _covered(term, x.dims) for term, x in zip(terms, Inputs, strict=True) if x.shape is not None and "..." in term
    ]
    require(len(set(covered)) <= 1, "ellipses stand for different numbers of axes", *covered)
    sizes: dict[str, Dim] = {}
    for term, x in zip(terms, Inputs, strict=True):
        for label, size in _axes(term, x.shape, covered).items():
            sizes[label] = broadcast_size(sizes[label], size) if label in sizes else size
    output = _implicit_output(terms) if output is None else output
    for label in output:
        if label not in sizes and label != "...":
            sizes[label] = conflicting(f"label {label} of the output occurs in no input")
    if "..." in output and not covered and any("..." in term for term in terms):
        raise Unknown("the number of axes that the ellipsis stands for is not known")
    return tuple(sizes[label] for label in _expanded(output, covered[0] if covered else 0))


def _implicit_output(terms: list[list[str]]) -> list[str]:
    """The implicit output of an equation: the ellipsis, then the labels that occur once, in order."""
    named = [label for term in terms for label in term if label != "..."]
    ellipsis = ["..."] if any("..." in term for term in terms) else []
    return ellipsis + sorted(label for label in set(named) if named.count(label) == 1)


def read_equation(equation: str) -> tuple[list[list[str]], list[str] | None]:
    """The labels of each input term (including `...`), and those of the output; None for an implicit output.

    >>> read_equation("...ij, jk -> ...ik")
    ([['...', 'i', 'j'], ['j', 'k']], ['...', 'i', 'k'])
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    *terms, output = (_labels(term) for term in [*left.split(","), right])
    require(len(set(output)) == len(output), "a label of the output is repeated", right)
    return terms, output if arrow else None


def _labels(term: str) -> list[str]:
    labels = re.findall(r"\.\.\.|[A-Za-z]", term)
    require("".join(labels) == term and labels.count("...") <= 1, f"not a term of an equation: {term!r}")
    return labels


def _covered(term: list[str], shape: Shape) -> int:
    """The number of axes that the ellipsis of a term stands for."""
    require(
        len(shape) >= len(term) - 1, "an input has fewer axes than its term labels", len(shape), len(term) - 1, sign="<"
    )
    return len(shape) - len(term) + 1


def _expanded(term: list[str], covered: int) -> list[str]:
    """The term with a new label for each axis under the ellipsis."""
    return [name for label in term for name in ([f"...{i}" for i in range(covered)] if label == "..." else [label])]


def _axes(term: list[str], shape: Shape | None, covered: list[int]) -> dict[str, Dim]:
    """The size of each label in one input. An input of unknown rank has fresh sizes; a repeated label is a diagonal."""
    labels = _expanded(term, covered[0] if covered else 0)
    if shape is None:
        return {label: fresh(f"size of label {label}") for label in labels}
    require(len(labels) == len(shape), "labels of a term and axes of its input differ", len(labels), len(shape))
    out: dict[str, Dim] = {}
    for label, size in zip(labels, shape, strict=True):
        out[label] = unify(out[label], size, f"sizes of the repeated label {label}") if label in out else size
    return out
