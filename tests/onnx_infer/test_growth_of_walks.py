"""How many walks inference makes over the bodies of functions and loops, counted and never timed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onnx_infer import SymTensor, infer
from onnx_infer.engine.calls import MOST_NESTED
from onnx_infer.engine.record import Record  # a walk over a graph begins with a checkpoint
from onnx_infer.engine.subgraph import Subgraph

from .texts import parsed

if TYPE_CHECKING:
    from onnx import ModelProto


def counted_walks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The checkpoints of the graphs that are walked from now on."""
    walks: list[object] = []
    checkpoint = Record.checkpoint
    monkeypatch.setattr(Record, "checkpoint", lambda record: walks.append(record) or checkpoint(record))
    return walks


def calls_twice(depth: int, first: str, between: str, innermost: str) -> ModelProto:
    """Functions of which each calls the one below twice, the second time with what is computed `between`."""
    bodies = [f"F0 (x) => (y) {{ y = {innermost} }}"]
    for i in range(1, depth + 1):
        bodies.append(f"F{i} (x) => (y) {{ a = f.F{i - 1}(x) {between} y = f.F{i - 1}(b) }}")
    functions = "\n".join(f'<domain: "f", opset_import: ["": 18, "f": 1]> {body}' for body in bodies)
    text = f"g (float[N] n) => (y) {{ {first} y = f.F{depth}(x) }}\n{functions}"
    return parsed(text, '<ir_version: 10, opset_import: ["": 18, "f": 1]>')


@pytest.mark.parametrize(
    ("first", "between", "innermost", "known", "coarse"),
    [
        ("x = Identity(n)", "p = Constant<value_ints=[0, 1]>() b = Pad(a, p)", "Neg(x)", "f32[N + {steps}]",
         "f32[...]"),
        ("x = Identity(n)", "p = Constant<value_ints=[0]>() b = Unsqueeze(a, p)", "Neg(x)", "f32[{ones}N]", "f32[...]"),
        ("x = Constant<value_ints=[3]>()", "p = Constant<value_ints=[1]>() b = Add(a, p)", "Identity(x)",
         "i64[1]={{{sum}}}", "i64[...]"),
    ],
)  # fmt: skip
def test_calls_with_new_sizes_ranks_or_elements(
    first: str, between: str, innermost: str, known: str, coarse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call is walked where calls are few. Where they double, less is known, and the walks are bounded."""
    walks = counted_walks(monkeypatch)
    for depth, expected in ((5, known), (14, coarse)):
        steps = 2**depth - 1
        result = infer(calls_twice(depth, first, between, innermost))
        assert str(result.types["y"]) == expected.format(steps=steps, ones="1, " * steps, sum=3 + steps)
        assert len(walks) <= 2 * (MOST_NESTED + 40 * depth)  # a call takes a checkpoint, and its body another one
        walks.clear()


def nested_loops(depth: int, trips: str) -> ModelProto:
    body = "w = Concat<axis=0>(v, v)"
    for i in range(depth):
        loop = f"""Loop(m, c, {"x" if i == depth - 1 else "v"}) <body = b{i} (int64 i, bool go, float[?] v) => (on, w)
            {{ on = Identity(go) {body} }}>"""
        body = f"w = {loop}"
    constants = f"<int64 m = {{{trips}}}, bool c = {{1}}>" if trips else ""
    inputs = "float[N] x" if trips else "float[N] x, int64 m, bool c"
    return parsed(f"g ({inputs}) => (w) {constants} {{ {body} }}")


@pytest.mark.parametrize(("trips", "most"), [("", 2), ("2", 8)])
def test_nested_loops(trips: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walks and names that are given grow with the square of the depth, and the rank is kept at any depth."""
    walks = 0
    call = Subgraph.__call__

    def counted(self: Subgraph, *inputs: Any, **options: Any) -> Any:
        nonlocal walks
        walks += 1
        return call(self, *inputs, **options)

    monkeypatch.setattr(Subgraph, "__call__", counted)
    for depth in (2, 4, 8):
        walks = 0
        result = infer(nested_loops(depth, trips))
        assert len(result.types["w"].shape or ()) == 1  # type: ignore[attr-defined]
        assert walks <= most * depth**2
        assert result._engine.symbols.count <= 3 * most * depth**2


@pytest.mark.parametrize("inner", ["Concat<axis=0>(v, v)", "Reshape(v, s)"])
def test_nested_scans_that_run_once(inner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state has another shape after one turn, so each Scan is walked again with the elements of its state."""
    walks = counted_walks(monkeypatch)
    for depth in (2, 6, 12):
        body = f"w = {inner}"
        for i in range(depth):
            state = "x" if i == depth - 1 else "v"
            body = f"""w, t{i} = Scan<num_scan_inputs=1, body=b{i} (float[] v, float s{i}) => (w, u{i})
                {{ u{i} = Neg(s{i}) {body} }}>({state}, k)"""
        shape = "s = Constant<value_ints=[1, -1]>()"
        walks.clear()
        result = infer(parsed(f"g (float[N] x, float[T] k) => (w) {{ {shape} {body} }}"))
        assert str(result.types["w"]) == ("f32[1, N]" if "Reshape" in inner else "f32[2*N]")
        assert "T == 1" in {str(guard) for guard in result.guards}
        assert len(walks) <= 16 * depth**2  # a Scan takes two checkpoints for a walk


def test_the_start_of_an_inner_loop_keeps_distances() -> None:
    """An inner Loop starts with what it gave in the former iteration: sizes that are 2 apart stay 2 apart."""
    result = infer(
        parsed(
            """g (float[N] a, float[K, L] x, int64 T) => (y, z) {
            two = Constant<value_floats=[1., 2.]>() c = Concat<axis=0>(a, two) yes = Constant<value=bool {1}>()
            zero = Constant<value_int=0>()
            y, z = Loop(T, yes, a, c) <body = o (int64 i, bool go, float[A] p, float[B] q) => (bool on, p1, q1) {
                on = Identity(go)
                p1, q1 = Loop(T, yes, p, q) <body = n (int64 j, bool ho, float[C] r, float[D] s) => (bool oo, r1, s1) {
                    oo = Identity(ho) w = NonZero(x) f = Cast<to=1>(w) more = Gather<axis=0>(f, zero)
                    r1 = Concat<axis=0>(r, more) s1 = Concat<axis=0>(s, more) }> }> }"""
        )
    )
    y, z = result.types["y"], result.types["z"]
    assert isinstance(y, SymTensor)
    assert isinstance(z, SymTensor)
    assert z.dims == (y.dims[0] + 2,)
