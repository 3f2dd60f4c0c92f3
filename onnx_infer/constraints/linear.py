"""Products: MatMul and similar operators, Gemm, Einsum, determinants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import joined
from onnx_infer.values.tensor import MAX_RANK
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Relations, Rows


@form("MatMul", "MatMulInteger")
@form("MatMulInteger16", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain="com.microsoft")
def matmul(s: Relations, A: Row, B: Row, out: Row) -> None:
    """(..a.., m, k), (..b.., k, n) -> (..broadcast.., m, n). If A is a vector there is no m; if B is one, no n."""
    matrices = tuple(_is_matrix(x, y, out) for x, y in ((A, B), (B, A)))
    if False in matrices:
        _product_with_vector(s, A, B, out, matrices)
    elif matrices == (True, True):
        (a, (m, k)), (b, (inner, n)), (batch, (rows, columns)) = (s.trailing(x, 2) for x in (A, B, out))
        for one, other, of, axis in ((k, inner, B, -2), (m, rows, out, -2), (n, columns, out, -1)):
            s.eq(one, other, of, axis)
        s.store.bcast(batch, (a, b), origin=s.origin(out))
    else:
        _product_of_unknown_ranks(s, A, B, out, matrices)


def _is_matrix(x: Row, other: Row, out: Row) -> bool | None:
    """Whether an operand has at least two axes (else it is a vector); None if that is not known.

    A product with a vector has one axis less than the other operand, which has at least one.
    """
    if x.rank is not None:
        return x.rank > 1
    if x.least_rank > 1 or (out.least_rank > 0 and other.rank is not None and out.least_rank >= other.rank):
        return True
    return None


def _product_with_vector(s: Relations, A: Row, B: Row, out: Row, matrices: tuple[bool | None, ...]) -> None:
    vector, other, place = (A, B, -2) if matrices[0] is False else (B, A, -1)
    size, axes = s.axes(vector, 1)[0], matrices[1] if vector is A else matrices[0]
    if axes is False:
        s.eq(size, s.axes(other, 1)[0], other, 0)
        s.be(out, ())
    elif axes:
        batch, pair = s.trailing(other, 2)
        s.eq(size, pair[2 + place], other, place)
        s.be(out, Row(batch.lead, batch.variable, (*batch.trail, pair[-3 - place])))
    elif place == -1:  # the only axis of a vector, or the last axis of a matrix
        s.eq(size, s.size(other, -1), other, -1)


def _product_of_unknown_ranks(s: Relations, A: Row, B: Row, out: Row, matrices: tuple[bool | None, ...]) -> None:
    k = s.size(A, -1)
    if matrices[1]:
        inner, columns = s.trailing(B, 2)[1]
        s.eq(k, inner, B, -2)
        s.eq(columns, s.size(out, -1), out, -1)
        if B.rank == 2:
            rest = RowVar.fresh()
            s.be(A, Row((), rest, (k,)))
            s.be(out, Row((), rest, (columns,)))
    else:
        s.size(B, -1)


@form("QLinearMatMul")
def qlinear_matmul(s: Relations, a: Row, b: Row, out: Row) -> None:
    """As MatMul, for quantized tensors."""
    matmul(s, a, b, out)


@form("FusedMatMul", "TransposeMatMul", domain="com.microsoft")
def fused_matmul(s: Relations, A: Row, B: Row, out: Row, transA: int = 0, transB: int = 0, transBatchA: int = 0,
                 transBatchB: int = 0) -> None:  # fmt: skip
    """As MatMul, with the last two axes of an operand swapped. Vectors are not transposed."""
    if transBatchA or transBatchB:
        return
    if (transA and not _is_matrix(A, B, out)) or (transB and not _is_matrix(B, A, out)):
        return
    matmul(s, _swapped(s, A) if transA else A, _swapped(s, B) if transB else B, out)


def _swapped(s: Relations, x: Row) -> Row:
    batch, (m, n) = s.trailing(x, 2)
    return Row(batch.lead, batch.variable, (*batch.trail, n, m))


@form("MatMulNBits", "MatMulBnb4", "MatMulPacked", domain="com.microsoft")
def matmul_of_bits(s: Relations, A: Row, out: Row, K: int, N: int, transB: int = 1) -> None:
    """(..r.., K) -> (..r.., N), with a weight packed into bits; without transB, (..r.., N) -> (..r.., K)."""
    rest, (inner,) = s.trailing(A, 1)
    s.eq(inner, K if transB else N, A, -1)
    s.be(out, joined(rest, (N if transB else K,)))


@form("Gemm")
@form("FusedGemm", domain="com.microsoft")
def gemm(s: Relations, A: Row, B: Row, C: Row | None, out: Row, transA: int = 0, transB: int = 0,
         broadcast: int = 1) -> None:  # fmt: skip
    """(m, k), (k, n), C that broadcasts to (m, n) -> (m, n)."""
    m, k = s.axes(A, 2)[:: -1 if transA else 1]
    inner, n = s.axes(B, 2)[:: -1 if transB else 1]
    s.eq(k, inner, B, 1 if transB else 0)
    s.be(out, (m, n))
    if broadcast or C is None:
        s.bcast_to(Row(trail=(m, n)), C)
    else:
        s.be(C, (m, n))


@form("Einsum")
def einsum(s: Relations, Inputs: Rows, equation: str, out: Row) -> None:
    """The labels of each term are the axes of its input. Axes with equal labels broadcast."""
    from symdim.einsum.constraints import state
    from symdim.einsum.reader import parse_subscripts

    if any(len(term) > MAX_RANK for term in equation.replace("->", ",").split(",")):
        return  # no shape has so many axes
    state(s.store, parse_subscripts(equation), (*Inputs, out), least=0, node=s.node)  # an axis may be empty


@form("Det")
def det(s: Relations, X: Row, out: Row) -> None:
    """(..r.., m, m) -> (..r..)."""
    batch, (rows, columns) = s.trailing(X, 2)
    s.eq(rows, columns, X, -1)
    s.be(out, batch)
