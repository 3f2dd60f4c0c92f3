"""Broadcasting chooses one of two sizes. After many choices of a model the others are fresh sizes, with a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer import infer
from onnx_infer.engine.apply import MOST_CHOICES as MOST
from symdim import Var, clear_caches, maximum
from symdim.algebra.origin import is_data_dependent

from .texts import parsed

if TYPE_CHECKING:
    from onnx import ModelProto

    from onnx_infer import InferenceResult

COUNT = MOST + 4


def of_pairs(count: int, more: str = "") -> ModelProto:
    """One addition for each pair of symbols."""
    inputs = ", ".join(f"float[N{i}] x{i}, float[M{i}] y{i}" for i in range(count))
    nodes = " ".join(f"z{i} = Add(x{i}, y{i})" for i in range(count))
    return parsed(f"g (int64 trips, bool go, {inputs}) => (z{count - 1}) {{ {nodes} {more} }}")


def sizes(result: InferenceResult) -> list[str]:
    return [str(result.shapes[f"z{i}"][0]) for i in range(COUNT)]


def test_a_fresh_size_of_two_may_be_0_if_one_of_them_may() -> None:
    more = "one = Constant<value_floats=[1.0]>() a = Concat<axis=0>(x0, one) b = Add(a, y0)"
    result = infer(of_pairs(COUNT, more), min_dim=0)
    (size,) = result.shapes["b"]
    assert isinstance(size, Var)
    assert size.bounds() == (0, None)


def test_after_many_choices_further_ones_are_fresh_sizes() -> None:
    result = infer(of_pairs(COUNT))
    found = [result.shapes[f"z{i}"][0] for i in range(COUNT)]
    for i, size in enumerate(found[: MOST + 1]):
        assert size == maximum(Var(f"N{i}"), Var(f"M{i}"))
    for size in found[MOST + 1 :]:
        assert isinstance(size, Var)
        assert is_data_dependent(size.origin)
        assert size.bounds() == (1, None)
    (told,) = result.diagnostics
    assert told.severity == "warning"
    assert told.node == f"z{MOST}"
    assert str(told).endswith(
        f"broadcasting chooses one of two sizes for more than {MOST} pairs, so each further size that "
        "it chooses is a new one; declare equal sizes of the inputs by one name"
    )
    assert len(result.guards) == COUNT  # what a run needs is stated as before


def test_few_choices_and_many_equal_ones_are_not_limited() -> None:
    assert not infer(of_pairs(MOST)).diagnostics
    nodes = " ".join(f"z{i} = Add(x, y)" for i in range(2 * COUNT))
    result = infer(parsed(f"g (float[N] x, float[M] y) => (z0) {{ {nodes} }}"))
    assert not result.diagnostics
    assert {str(shape[0]) for name, shape in result.shapes.items() if name.startswith("z")} == {"max(M, N)"}


def test_the_limit_depends_on_the_model_alone() -> None:
    """Not on what is remembered from others. The outcomes of one model are not those of the next one."""
    body = "c = Identity(go) w = Add(x0, y1)"
    loop = f"w = Loop(trips, go) <body = b (int64 i, bool on) => (c, w) {{ {body} }}>"
    model, alone = of_pairs(COUNT, loop), of_pairs(2, loop)
    clear_caches()
    first = infer(model)
    assert str(infer(alone).shapes["w"][1]) == "max(M1, N0)"
    again = infer(model)
    assert sizes(first) == sizes(again)
    assert str(first.types) == str(again.types)
    assert is_data_dependent(again.shapes["w"][1].origin)  # type: ignore[union-attr]
    assert not infer(of_pairs(COUNT - 8)).diagnostics


STRICT = """
g (float[N, H] x, float[M, 1] y, float[1, 4] z, float[N, H] u) => (float[a, b] p, float[c, d] q, float[e, f] r)
{ p = Add (x, y)  q = Mul (x, z)  r = PRelu (u, y) }"""


def test_symbols_broadcast_strictly_if_the_caller_says_so() -> None:
    model = parsed(STRICT)
    for _ in range(2):  # neither finds what the other has remembered
        assert str(infer(model).types["p"]) == "f32[max(M, N), H]"
        result = infer(model, broadcast="strict")
        assert [str(result.types[name]) for name in "pqr"] == ["f32[N, H]", "f32[N, 4]", "f32[N, H]"]
        assert [(str(guard), guard.kind) for guard in result.guards] == [
            ("N == M", "assumed"), ("H in (4, 1)", "required"),
        ]  # fmt: skip
    named = infer(model, assume=["no accidental broadcast"])
    assert (named.types, named.guards) == (result.types, result.guards)


def test_sizes_that_only_broadcast_are_an_error_if_strict() -> None:
    model = parsed("""g (float[N] x) => (y) { t = Concat <axis = 0> (x, x)  y = Add (t, x) }""")
    assert not infer(model).diagnostics
    (told,) = infer(model, broadcast="strict").diagnostics
    assert told.message == "sizes that broadcast='strict' equates differ: 2*N != N"
