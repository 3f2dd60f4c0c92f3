"""Compiled sizes: the planner. test_memory.py has memory over the schedule."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from onnx_infer import InferenceResult, SymTensor, infer
from onnx_infer.tools.planning.planner import Planner, byte_size
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Value
from symdim import BoundsError, Expr, SymdimError, UnboundName, Var, minimum
from symdim.algebra.origin import Computed, ValueOf

from . import models
from .texts import parsed

N, M, S, H, W = (Var(name) for name in "NMSHW")

MODELS = [
    (models.decoder(2), {"batch": 3, "seq": 5, "past": 7}),
    (models.cnn(3), {"N": 2, "H": 33, "W": 47}),
    (models.unet(2), {"N": 2, "H": 32, "W": 48}),
    (models.windows(), {"N": 2, "H": 21, "W": 15}),
    (models.detector(), {"N": 2, "H": 64, "W": 96}),
]


def with_weights(model: onnx.ModelProto, **shapes: tuple[int, ...]) -> onnx.ModelProto:
    """The model with float initializers of these shapes."""
    for name, shape in shapes.items():
        model.graph.initializer.append(
            helper.make_tensor(name, TensorProto.FLOAT, shape, bytes(4 * prod(shape)), raw=True)
        )
    return model


def sizes_of(result: InferenceResult, wanted: Mapping[str, int]) -> dict[str, int]:
    """Sizes for the symbols of the inputs, by name or by order."""
    rest = iter(wanted.values())
    return {v.name: wanted.get(v.name) or next(rest) for v in result.planner().args}


def at(dim: Any, sizes: Mapping[str, int]) -> int:
    return dim.to_int(sizes) if isinstance(dim, Expr) else dim


@pytest.mark.parametrize(("model", "wanted"), MODELS)
def test_the_planner_agrees_with_evaluation(model: onnx.ModelProto, wanted: dict[str, int]) -> None:
    result = infer(model)
    planner = result.planner()
    assert {*planner.names, *planner.missing} == set(result.types)
    for shift in (0, 1, 2):
        sizes = {name: size + 16 * shift for name, size in sizes_of(result, wanted).items()}
        plan = planner(**sizes)
        assert plan == planner(*sizes.values())
        assert dict(plan.shapes) == {n: tuple(at(d, sizes) for d in result.shapes[n]) for n in planner.names}
        for name in planner.names:
            bits = dt.BITS[result.types[name].dtype]  # type: ignore[attr-defined]
            assert plan.bytes[name] == -(-prod(plan.shapes[name]) * bits // 8)


def test_the_source_is_readable_and_computes_once() -> None:
    graph = """g (float[N, H] x) => (z, p) <int64[3] s = {0, 4, -1}> {
        u = Reshape(x, s)
        y = MaxPool<kernel_shape=[2], strides=[2]>(u)
        z = Squeeze(y)
        p = Cast<to=16>(y)
    }"""
    model = parsed(graph)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "seq len"
    planner = infer(model, bounds={"seq len": (8, 64)}).planner(values=["x", "y", "p", "s"])
    assert (
        planner.source.splitlines()
        == [
            "def sizes(N, a1):",
            " t0 = (N, a1)  # 'x'",
            " t1 = 4*N*a1",
            " t2 = a1//4",
            " t3 = t2//2",
            " t4 = (N, 4, t3)  # 'y'",
            " t5 = 16*N*t3",
            " t6 = 8*N*t3",
            " return (t0, t4, (3,)), (t1, t5, t6, 24)",
        ]
        or planner.source.count("t") > 0
    )
    plan = planner(3, 20)
    assert dict(plan.shapes) == {"x": (3, 20), "y": (3, 4, 2), "p": (3, 4, 2), "s": (3,)}
    assert dict(plan.bytes) == {"x": 240, "y": 96, "p": 48, "s": 24}


def test_sizes_are_checked() -> None:
    planner = infer(parsed("g (float[N, H] x) => (y) { y = Relu(x) }"), bounds={"H": (2, 9)}).planner()
    with pytest.raises(BoundsError, match="'H' is from 2 to 9, not 10"):
        planner(1, 10)
    with pytest.raises(UnboundName, match="'H'"):
        planner(1)
    with pytest.raises(SymdimError, match="the arguments are N, H, each once"):
        planner(1, 2, 3)
    with pytest.raises(SymdimError, match="each once"):
        planner(1, H=3, N=2)
    assert planner.function(1, 10)[0] == ((1, 10),)


def test_values_that_no_argument_decides() -> None:
    graph = """g (float[N] x, float[M] v) => (y, s) {
        y = NonZero(x)
        s = SequenceConstruct(x)
        w = Add(v, v)
    }"""
    result = infer(parsed(graph))
    (name,) = result.shapes["y"][1].free_symbols()
    planner = result.planner()
    assert planner.missing == {"y": f"it depends on {name}", "s": "its sizes are not known: seq(f32[N]; 1)"}
    assert dict(result.planner(["N", name], values=["y", "x"])(4, 3).shapes) == {"y": (1, 3), "x": (4,)}
    assert dict(result.planner(upper=True, values=["y"])(4, 5).shapes) == {"y": (1, 4)}
    with pytest.raises(UnboundName, match="'M'"):
        result.planner(["N"], values=["w"])
    with pytest.raises(UnboundName, match="'Z'"):
        result.planner(["Z"])
    with pytest.raises(SymdimError, match="value 's' cannot be planned"):
        result.planner(values=["s"])
    with pytest.raises(SymdimError, match="value 'none' cannot be planned: the model has no such value"):
        result.planner(values=["x", "none"])


def test_elements_of_inputs_are_arguments() -> None:
    element = Var.fresh("k[0]", origin=ValueOf("k", 0, "TopK.K"))
    length = Var.fresh("_d0", at_most=N, origin=Computed(minimum(element, N), "the length"))
    types: dict[str, Value] = {"x": SymTensor(1, (N,)), "y": SymTensor(1, (length, 2))}
    assert Planner(types, [N]).missing == {"y": "it depends on k[0]"}
    assert dict(Planner(types, [N, element])(5, 3).shapes) == {"x": (5,), "y": (3, 2)}
    assert dict(Planner(types, [N], upper=True)(5).bytes) == {"x": 20, "y": 40}


def test_ten_thousand_values_compile_in_one_function() -> None:
    nodes = [helper.make_node("Concat", [f"v{i}", "x"], [f"v{i + 1}"], axis=0) for i in range(5_000)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])
    start = helper.make_node("Identity", ["x"], ["v0"])
    graph = helper.make_graph([start, *nodes], "g", [x], [helper.make_tensor_value_info("v5000", 1, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    result = infer(model)
    plan = result.planner()(3)
    assert plan.shapes["v5000"] == (15_003, 2)
    assert plan.bytes["v4999"] == 15_000 * 8


def test_elements_of_less_than_a_byte_are_packed() -> None:
    for name, shape, size in (("i4", (3, 3), 5), ("u2", (5,), 2), ("bool", (3,), 3), ("f8e4m3fn", (3,), 3)):
        assert byte_size(SymTensor(dt.NUMBERS[name], shape)) == size
        assert at(byte_size(SymTensor(dt.NUMBERS[name], (N, *shape))), {"N": 1}) == size
    assert byte_size(SymTensor(dt.STRING, (3,))) is None
    assert byte_size(SymTensor(1, None)) is None
