"""What elements of inputs decide, and room in caches. `runs/elements.txt` has what is foretold of elements."""

from __future__ import annotations

import pickle
from itertools import product

import pytest

from onnx_infer import infer
from onnx_infer.tools.report.plain_data import as_json

from .sessions import counting, run, session_of
from .test_guards import texts
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'

# (inputs, nodes, what the values of inputs decide: the inputs, and how many nodes)
DECIDED = [
    ("float[W, 2] t, int64[N] i", "y = Gather(t, i)", [(("i",), 1)]),
    ("float[W, 2] t, int64[N] i", "n = Neg(i) u = Unsqueeze(n, axis) y = GatherND(t, u)", [(("i",), 1)]),
    ("float[W, 2] t, int64[N] i, int64[N] j", "a = Add(i, j) y = Gather(t, a) z = Gather(t, i)",
        [(("i", "j"), 1), (("i",), 1)]),
    ("float[W, 2] t, int64[N] j, int64[N] i", "a = Add(i, j) c = Add(a, i) y = Gather(t, c) z = Gather(t, a)",
        [(("j", "i"), 2)]),
    ("float[W, 2] t, int64[N] i, int64[N] j", "y = Gather(t, i) c = Cast<to=7>(y) d = Add(j, c) z = Gather(t, d)",
        [(("i",), 1), (("t", "i", "j"), 1)]),
    ("float[W, 2] t, int64[N] i", "y = Gather(t, i) z = Gather(t, i)", [(("i",), 2)]),
    ("float[W, 2] t, int64[N] i", "s = Shape(i) y = Gather(t, s)", []),
    ("float[W, 2] t, float[N] x", "i = ArgMax(x) y = Gather(t, i)", []),
    ("float[W, 2] t, int64[N] i", "z = Sub(i, i) y = Gather(t, axis)", []),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "nodes", "expected"), DECIDED)
def test_where_elements_of_inputs_decide_the_result_names_them(
    inputs: str, nodes: str, expected: list[tuple[tuple[str, ...], int]]
) -> None:
    result = infer(parsed(f"g ({inputs}) => (y) <int64[1] axis = {{1}}> {{ {nodes} }}", HEAD))
    assert [(law.inputs, len(law.origins)) for law in result.data_laws] == expected
    assert pickle.loads(pickle.dumps(result)).data_laws == result.data_laws
    assert [law["inputs"] for law in as_json(result)["data_laws"]] == [list(names) for names, _ in expected]
    assert ("also fails at run time if indices are out of bounds" in result.table()) is bool(expected)


def attention(seed_of_caches: str) -> str:
    return f"""g (float[B, S, 32] q, float[B, S, 16] k, float[B, S, 16] v, float[B, 2, P, {seed_of_caches}] c,
        float[B, T] m) => (y, d, e) <int64[1] axis = {{1}}, float zero = {{0.0}}> {{
        h = Shape<start=1>(m)
        i = Squeeze(h)
        total = Cast<to=6>(i)
        ones = Shape<start=0, end=1>(m)
        less = Sub(h, axis)
        w = Cast<to=6>(less)
        lengths = Expand(w, ones)
        y, d, e = com.microsoft.GroupQueryAttention<num_heads=4, kv_num_heads=2>(q, k, v, c, c, lengths, total)
    }}"""


def test_grouped_attention_has_room_in_the_past() -> None:
    model = parsed(attention("D"), HEAD)
    result = infer(model)
    assert "GroupQueryAttention y: D == 8" in [text.replace("com.microsoft::", "") for text in texts(result)]
    model = parsed(attention("8"), HEAD)
    result, session = infer(model), session_of(model)
    for batch, length, past, total in product((1, 2), (1, 2, 3), (1, 2, 4), (1, 2, 3, 4, 5, 6)):
        sizes = {"B": batch, "S": length, "P": past, "T": total}
        assert (run(session, counting(result, sizes)) is None) is bool(result.check(sizes)), sizes


# -- at random ---------------------------------------------------------------------------------------------------------

# -- tensors -----------------------------------------------------------------------------------------------------------
