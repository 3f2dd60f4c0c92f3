"""Assumptions of nodes in bodies: sizes of results rest on them, and what follows from them refutes no body."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnx_infer import infer
from symdim import Expr

from .sessions import run, session_of
from .texts import both, parsed

# The first size of r is N - 2, and that of u is 1. With N == 2 the target is [0, -1], and the 0 copies the 5.
RESHAPED = "m = Sub(n, two)  t = Concat<axis = 0>(m, rest)  r = Reshape(big, t)"
PRODUCT = "u = MatMul(five, r)"
MODEL = """g (float[1, N] x, float[1, "N + 3"] longer, float[5, 6] big, float[1, 5] five, float[2, 1] two_rows,
    float[1, 30] other, bool c) => (y)
    <int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] rest = {{-1}}, int64 trips = {{1}}> {{
    s = Shape(x)  n = Gather<axis = 0>(s, one)  {before}
    y = {node} }}"""


def branches(then: str, otherwise: str = "q = Identity(other)", names: tuple[str, str] = ("p", "q")) -> str:
    first, second = names
    return f"If(c) <then_branch = a () => ({first}) {{ {then} }}, else_branch = b () => ({second}) {{ {otherwise} }}>"


INNER = branches(f"{RESHAPED}  p1 = Relu(r)", f"{RESHAPED}  q1 = Neg(r)", ("p1", "q1"))
LOOP = "Loop(trips, c, big) <body = a (int64 i, bool go, float[5, 6] v) => (go2, p) {{ go2 = Identity(go)  {} }}>"
CASES = {
    "one of two": ("", branches(f"{RESHAPED}  p = Relu(r)", RESHAPED.replace("r = ", "q = "))),
    "both statements inside": ("", branches(f"d = MatMul(x, two_rows)  {RESHAPED}  {PRODUCT}  p = Add(u, d)")),
    "the assumption outside": (RESHAPED, branches(f"d = MatMul(x, two_rows)  {PRODUCT}  p = Add(u, d)")),
    "an assumption in a body inside": (
        "",
        branches(f"k = {INNER}  d = MatMul(x, two_rows)  u = MatMul(five, k)  p = Add(u, d)"),
    ),
    "sizes that differ": (RESHAPED, branches("p = MatMul(longer, r)")),
    "a loop": ("", LOOP.format(f"{RESHAPED}  p = Relu(r)")),
}


def model_of(case: str) -> onnx.ModelProto:
    before, node = CASES[case]
    return parsed(MODEL.format(before=before, node=node))


def known_at(size: Expr, sizes: dict[str, int]) -> int | None:
    """The size there; None if only the data decide it."""
    return size.evaluate(sizes) if {v.name for v in size.variables()} <= sizes.keys() else None


@pytest.mark.parametrize("case", CASES)
def test_sizes_are_those_of_runs_in_which_the_guards_hold(case: str) -> None:
    model = model_of(case)
    result = both(model)
    session = session_of(model)
    ran = 0
    for n in (1, 2, 3, 4, 7):
        sizes = {"N": n}
        given = {
            "x": (1, n), "longer": (1, n + 3), "big": (5, 6), "five": (1, 5), "two_rows": (2, 1), "other": (1, 30),
        }  # fmt: skip
        for c in (False, True):
            feeds = {name: np.ones(shape, np.float32) for name, shape in given.items()}
            wanted = {i.name for i in session.get_inputs()}
            outputs = run(session, {k: v for k, v in {**feeds, "c": np.array(c)}.items() if k in wanted})
            if outputs is None:
                continue
            ran += 1
            failed = result.check(sizes)
            assert [str(v.guard) for v in failed if v.kind == "required"] == []
            if not failed:
                known = [d if isinstance(d, int) else known_at(d, sizes) for d in result.types["y"].dims]
                assert [found in (None, size) for found, size in zip(known, outputs[0].shape, strict=True)] == [
                    True
                ] * 2
    assert ran >= 3


def test_a_law_about_tensors_with_elements_is_no_demand_of_a_branch_that_may_not_run() -> None:
    """The branch of the Pad runs for M == 0 only, and fails there. Where M is 1, the other one runs."""
    model = parsed(
        """g (float[M, 4] x) => (y) <int64 one = {1}, int64[4] pads = {0, -1, -1, -1}> {
        n = Size(x) c = Less(n, one)
        y = If(c) <then_branch = t () => (float[A, B] p) { q = Pad<mode="edge">(x, pads) p = Neg(x) },
                   else_branch = f () => (float[A, B] p) { p = Identity(x) }> }"""
    )
    guards = [(str(guard), guard.kind) for guard in infer(model, min_dim=0).guards]
    assert guards == [("M >= 1", "required"), ("M >= 2", "assumed")]
