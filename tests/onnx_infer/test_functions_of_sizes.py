"""Models whose sizes are functions without a meaning: what is inferred of them, and what is refused."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

from onnx_infer import contract, infer
from symdim import SymdimError, UnboundName

HEAD = '<ir_version: 10, opset_import: ["": 20]>\n'


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


RESHAPED = """g (float[N, "f(N)", 4] x, float["f(N)", M] w, float["f(2*N)"] v)
 => (float[a, b] y, float[c, d] z, float[e] u) {
 s = Constant<value_ints=[-1, 8]> ()
 y = Reshape (x, s)
 t = Constant<value_ints=[0, -1]> ()
 z = Reshape (x, t)
 u = Relu (v)
}"""


@pytest.mark.parametrize("text", ["f(K)", "floor(log(N))", "f(N)//2"])
def test_other_texts_stay_names(text: str) -> None:
    result = infer(model(f'g (float[N, "{text}"] x) => (float[a, b] y) {{ y = Relu (x) }}'))
    assert str(result.types["y"]) == f"f32[N, {text}]"
    assert result.types["y"].shape[1].variables()[0].name == text  # type: ignore[union-attr, index]


def test_a_plan_leaves_out_what_needs_the_function() -> None:
    planner = infer(model(RESHAPED)).planner()
    assert planner.missing["y"] == "it depends on f(N)"
    assert dict(planner(N=3, M=2).shapes)["s"] == (2,)


@pytest.mark.parametrize("language", ["c", "js"])
def test_code_is_refused(language: str) -> None:
    with pytest.raises(SymdimError, match=r"f\(.*\) cannot be computed"):
        infer(model(RESHAPED)).emit(language)  # type: ignore[arg-type]


def test_bytes_and_checks_name_the_function() -> None:
    result = infer(model(RESHAPED))
    with pytest.raises(UnboundName, match=r"no value for f\(.*\): give the function"):
        result.memory().bytes_at(N=3, M=2)
    with pytest.raises(UnboundName, match=r"no value for f\(3\): give the function"):
        result.check(N=3, M=2)


def test_a_contract_leaves_open_what_it_cannot_judge() -> None:
    proto = model(RESHAPED)
    written = infer(proto).apply(proto, contract=True)
    verdict = contract.check(written, {"x": (2, 3, 4), "w": (3, 5), "v": (7,)})
    assert not verdict.broken
    assert "N*f(N) % 2 == 0" in verdict.unchecked
