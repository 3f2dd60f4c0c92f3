"""One block of memory for all sizes: no two values that live together overlap, and runs read what they wrote."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_infer import infer
from onnx_infer.errors import ArgumentError, PlanError, UnknownSymbol
from symdim import BoundsError, UnboundName, parse

from . import models
from .sessions import session_of, shape_at
from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer import InferenceResult
    from onnx_infer.tools.arena.plan import ArenaPlan, PlacedArena

FOUR = "g (float[N, 8] x) => (float[N, 8] y) { a = Relu(x) b = Exp(a) c = Add(a, b) y = Neg(c) }"


def plan_of(text: str, **options: Any) -> ArenaPlan:
    return infer(parsed(text)).arena(**options)


# -- what shares storage ----------------------------------------------------------------------------------------------


def roots(text: str, **options: Any) -> dict[str, tuple[str, str]]:
    """Value -> its root and how it shares its storage, of all values that share one."""
    return {b.value: (b.root, b.kind) for b in plan_of(text, **options).buffers if b.kind != "own"}


SHARING = [
    (FOUR, {"c": ("a", "in place"), "y": ("a", "in place")}),
    # the reader of a comes later
    ("g (float[N] x) => (float[N] y) { a = Relu(x) b = Neg(a) y = Mul(a, b) }", {"y": ("a", "in place")}),
    # broadcast operands are too small
    ("g (float[N, 1] x, float[1, M] z) => (float[N, M] y) { a = Relu(x) b = Relu(z) y = Add(a, b) }", {}),
    # another element size
    ("g (float[N] x) => (double[N] y) { a = Relu(x) y = Cast <to = 11> (a) }", {}),
    # an output of the model stays as it is
    ("g (float[N] x) => (float[N] a, float[N] y) { a = Relu(x) y = Neg(a) }", {}),
    ("g (float[N, 4] x) => (float[N, 4] y) { a = Exp(x) b = Flatten(a) c = Identity(b) y = Softmax(c) }",
     {"b": ("a", "view"), "c": ("a", "view"), "y": ("a", "in place")}),
    # the other operand has the same bytes in another shape
    ("g (float[2, 3] x) => (float[6, 2, 3] y) <int64[3] s = {6, 1, 1}> { a = Exp(x) b = Reshape(a, s) y = Add(a, b) }",
     {"b": ("a", "view")}),
    ("g (float[N, 6] x) => (float[N, 6] y) <int64[3] s = {0, 2, 3}, int64[2] t = {0, 6}>"
     " { a = Exp(x) b = Reshape(a, s) c = Reshape(b, t) y = Sub(a, c) }",
     {"b": ("a", "view"), "c": ("a", "view")}),
    ("g (float[4, N] x) => (float[2, N] y) <int64[1] s = {1}, int64[1] e = {3}, int64[1] z = {0}>"
     " { a = Exp(x) y = Slice(a, s, e, z) }", {"y": ("a", "view")}),
    # not one piece
    ("g (float[4, 8] x) => (float[4, 2] y) <int64[1] s = {1}, int64[1] e = {3}, int64[1] z = {1}>"
     " { a = Exp(x) y = Slice(a, s, e, z) }", {}),
    ("g (float[4, N] x) => (float[4, N] y) <int64[1] s = {-1}, int64[1] e = {-9}, int64[1] z = {0}, int64[1] t = {-1}>"
     " { a = Exp(x) y = Slice(a, s, e, z, t) }", {}),
    ("g (float[1, 6, N] x) => (float[1, 2, N] y, float[1, 4, N] z) <int64[2] s = {2, 4}>"
     " { a = Exp(x) y, z = Split <axis = 1> (a, s) }", {"y": ("a", "view"), "z": ("a", "view")}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SHARING)
def test_values_that_share_storage(text: str, expected: dict[str, tuple[str, str]]) -> None:
    assert roots(text) == expected
    check_bytes(parsed(text), 5)


def test_what_may_share_is_the_callers_choice() -> None:
    text = "g (float[N, 4] x) => (float[N, 4] y) { a = Exp(x) b = Flatten(a) y = Neg(b) }"
    assert roots(text) == {"b": ("a", "view"), "y": ("a", "in place")}
    assert roots(text, views=False) == {"y": ("b", "in place")}
    assert roots(text, in_place=()) == {"b": ("a", "view")}
    assert roots(text, views=["Reshape"], in_place=["Exp"]) == {}
    with pytest.raises(ArgumentError, match=r"views must be .* not Reshap"):
        roots(text, views=["Reshap"])


def test_the_callers_buffers_and_weights_are_outside() -> None:
    text = "g (float[N] x) => (float[N] y) <float[4] w = {1, 2, 3, 4}> { a = Identity(x) b = Neg(a) y = Neg(b) }"
    plan = plan_of(text)
    assert plan.outside == {"w": "it is a weight", "x": "it is the caller's input", "a": "it is a view of 'x'"}
    assert [b.value for b in plan_of(text, inputs="arena").buffers] == ["x", "a", "b", "y"]
    outside = plan_of(text, outputs="caller").outside
    assert outside["y"] == "it is the caller's output"
    copied = plan_of("g (float[N] x) => (float[N] y) { y = Identity(x) }")  # an output is not the caller's input
    assert [b.root for b in copied.buffers] == ["y"]
    unknown = plan_of("g (string[N] x) => (string[N] y) { y = Identity(x) }")
    assert unknown.outside["y"] == "its bytes are not known: str[N]"


# -- offsets ----------------------------------------------------------------------------------------------------------


def test_offsets_are_expressions_and_numbers() -> None:
    text = "g (float[N, 16] x) => (float[N, 16] y) { a = Relu(x) b = Exp(a) y = MatMul(b, w) }"
    weights = "<float[16, 16] w = {" + ", ".join(["0"] * 256) + "}>"
    plan = plan_of(text.replace("{", weights + " {", 1), in_place=False)
    assert [(b.value, str(b.size), str(b.offset), b.first, b.last, b.below) for b in plan.buffers] == [
        ("a", "64*N", "0", 0, 1, ()),
        ("b", "64*N", "64*N", 1, 2, ("y",)),
        ("y", "64*N", "0", 2, 3, ()),
    ]
    assert (str(plan.size), str(plan.lower_bound)) == ("128*N", "128*N")
    at = plan.at(N=3)
    assert [(b.value, b.offset, b.size) for b in at.buffers] == [("a", 0, 192), ("b", 192, 192), ("y", 0, 192)]
    assert (at.size, at.lower_bound) == (384, 384)


def test_sizes_are_checked() -> None:
    plan = infer(
        parsed("g (float[N, 8] x) => (float[A] y) <int64[2] s = {-1, 12}> { a = Relu(x) y = Reshape(a, s) }")
    ).arena()
    assert plan.at(N=3).size == 128
    with pytest.raises(ArgumentError, match="does not run at these sizes: Reshape 'y': the element count"):
        plan.at(N=4)
    with pytest.raises(BoundsError):
        plan.at(N=-1)
    with pytest.raises(TypeError):
        plan.at(N=1.5)  # type: ignore[arg-type]
    with pytest.raises(UnboundName):
        plan.at()
    with pytest.raises(UnknownSymbol):
        plan.at(N=3, K=2)


@pytest.mark.parametrize(
    "options",
    [{"align": 0}, {"inputs": "mine"}, {"outputs": ""}, {"order": "best"}, {"order": [0, 0, 1, 2]}, {"effort": -1},
     {"order": [1, 0, 2, 3]}, {"views": "Reshape"}],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="arena: "):
        plan_of(FOUR, **options)


def test_data_decide_a_size() -> None:
    text = "g (float[N] x) => (int64[1, K] y) { k = NonZero(x) y = Neg(k) }"
    assert [str(b.size) for b in plan_of(text).buffers] == ["8*N", "8*N"]
    assert [str(b.size) for b in plan_of(text, upper=False).buffers] == ["8*K", "8*K"]


def test_the_order_of_the_nodes() -> None:
    """Two wide values that are reduced at once are live together in the file, one after the other at best."""
    text = (
        "g (float[N] x) => (float[1] y) <int64[2] w = {1000, 1}> { a = Expand(x, w) b = Expand(x, w)"
        " c = ReduceMax(a) d = ReduceMax(b) y = Add(c, d) }"
    )
    result = infer(parsed(text))
    file, least = result.arena(), result.arena(order="least")
    assert (file.order, least.order) == ((0, 1, 2, 3, 4), (0, 2, 1, 3, 4))
    assert least.at(N=100).size < 0.6 * file.at(N=100).size
    assert result.arena(order=least.order).at(N=100).size == least.at(N=100).size
    least.verify()


# -- for all sizes ----------------------------------------------------------------------------------------------------

MODELS = {
    "decoder": (models.decoder(2), ({"batch": 1, "seq": 1, "past": 3}, {"batch": 2, "seq": 5, "past": 0})),
    "cnn": (models.cnn(3), ({"N": 1, "H": 16, "W": 8}, {"N": 2, "H": 33, "W": 47})),
    "unet": (models.unet(2), ({"N": 1, "H": 8, "W": 8}, {"N": 2, "H": 32, "W": 48})),
    "windows": (models.windows(), ({"N": 1, "H": 7, "W": 14}, {"N": 2, "H": 21, "W": 15})),
}


def filled(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with random weights in place of zeros, so that wrong bytes are seen."""
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    random = np.random.default_rng(0)
    for weight in changed.graph.initializer:
        if weight.data_type == onnx.TensorProto.FLOAT:
            values = random.standard_normal(tuple(weight.dims), dtype=np.float32)
            weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return changed


def replayed(plan: ArenaPlan, at: PlacedArena, values: Mapping[str, np.ndarray[Any, Any]]) -> int:
    """Write each value into one block when its step runs; all that a step reads must still be there. The reads."""
    block = np.full(at.size, 0xCD, np.uint8)
    where, kinds = {b.value: b for b in at.buffers}, {b.value: b.kind for b in plan.buffers}

    def raw(name: str) -> np.ndarray[Any, Any]:
        return np.frombuffer(np.ascontiguousarray(values[name]).tobytes(), np.uint8)

    def check(name: str) -> None:
        buffer, wanted = where[name], raw(name)
        assert len(wanted) <= buffer.size
        assert 0 <= buffer.offset <= buffer.offset + buffer.size <= at.size
        assert (block[buffer.offset : buffer.offset + len(wanted)] == wanted).all(), name

    for name in where.keys() - {name for step in plan.steps for name in step.writes}:
        block[where[name].offset :][: where[name].size] = raw(name)
    reads = 0
    for step in plan.steps:
        for name in step.reads:
            if name in where:
                check(name)
                reads += 1
        for name in step.writes:
            if name in where and kinds[name] == "view":
                check(name)
            elif name in where:
                block[where[name].offset :][: where[name].size] = 0xEE
                block[where[name].offset :][: len(raw(name))] = raw(name)
    for name in plan.outputs:
        check(name)
    return reads


def run_values(model: onnx.ModelProto, result: InferenceResult, sizes: Mapping[str, int]) -> dict[str, Any]:
    """All values of a run with random inputs."""
    shown = onnx.ModelProto.FromString(model.SerializeToString())
    outputs = {value.name for value in shown.graph.output}
    shown.graph.output.extend(
        onnx.ValueInfoProto(name=name) for node in shown.graph.node for name in node.output if name not in outputs
    )
    random = np.random.default_rng(1)
    feeds = {}
    for name in result.inputs:
        shape, dtype = shape_at(result, name, sizes), result.types[name].dtype
        kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
        feeds[name] = random.integers(0, 2, shape).astype(kind) if kind.kind in "iub" else random.random(shape, kind)
    session = session_of(shown)
    names = [output.name for output in session.get_outputs()]
    return {**feeds, **dict(zip(names, session.run(names, feeds), strict=True))}


def check_bytes(model: onnx.ModelProto, *sizes: int, **options: Any) -> int:
    """Replay runs at these sizes of all symbols. The number of reads."""
    result = infer(model)
    plan = result.arena(**options)
    plan.verify()
    found = 0
    for size in sizes:
        given = {v.name: size for v in result.sources.symbols}
        found += replayed(plan, plan.at(given), run_values(model, result, given))
    return found


@pytest.mark.parametrize("options", [{}, {"order": "least", "inputs": "arena"}, {"align": 1, "views": False}])
@pytest.mark.parametrize("name", MODELS)
def test_a_run_reads_what_it_wrote(name: str, options: dict[str, Any]) -> None:
    model, all_sizes = MODELS[name]
    model = filled(model)
    result = infer(model)
    plan = pickle.loads(pickle.dumps(result.arena(**options)))
    assert plan.verify().pairs >= 14
    for wanted in all_sizes:
        rest = iter(wanted.values())
        sizes = {v.name: wanted.get(v.name) or next(rest) for v in plan.symbols}
        at = plan.at(sizes)
        assert at.lower_bound <= at.size <= 1.4 * at.lower_bound
        assert plan.size.evaluate(sizes) == at.size
        assert plan.lower_bound.evaluate(sizes) == at.lower_bound
        assert [b.offset if isinstance(b.offset, int) else b.offset.evaluate(sizes) for b in plan.buffers] == [
            b.offset for b in at.buffers
        ]
        assert replayed(plan, at, run_values(model, result, sizes)) > 20


def test_faults_of_a_plan_are_found() -> None:
    """A pair less, a life that is too short, a value written over one that is read later."""
    plan = infer(models.decoder(1)).arena()
    plan.verify()
    found = 0
    for number, storage in enumerate(plan.storages):
        for x in storage.below:
            storages = list(plan.storages)
            storages[number] = storage._replace(below=tuple(y for y in storage.below if y != x))
            changed = pickle.loads(pickle.dumps(plan))
            changed.storages = tuple(storages)
            with pytest.raises(PlanError):
                changed.verify()
            found += 1
    assert found > 20
    changed = pickle.loads(pickle.dumps(plan))
    read = {name for step in plan.steps for name in step.reads}
    late = plan.steps[-1]._replace(reads=(*plan.steps[-1].reads, *(n for n in read if n in changed._places)))
    changed.steps = (*plan.steps[:-1], late)
    with pytest.raises(PlanError, match=r"read later|may overlap"):
        changed.verify()


# -- as metadata ------------------------------------------------------------------------------------------------------


def test_a_plan_as_metadata() -> None:
    """A reader computes the offsets from the entries alone, and the nodes run in the order of the plan."""
    text = (
        "g (float[N] x) => (float[1] y) <int64[1] one = {1}> {"
        " big = Constant<value = int64[1] {900}>() w = Concat<axis = 0>(big, one) a = Expand(x, w)"
        " b = Expand(x, w) c = ReduceMax(a) d = ReduceMax(b) e = Add(c, d) y = Relu(e) }"
    )
    model = parsed(text)
    result = infer(model)
    plan = result.arena(order="least", in_place=False)
    result.arena(align=8).annotate(result.apply(model))  # the entries of an earlier plan go
    made = onnx.ModelProto.FromString(plan.annotate(model).SerializeToString())
    onnx.checker.check_model(made, full_check=True)
    entries = {e.key.removeprefix("onnx_infer.arena."): e.value for e in made.metadata_props}
    assert (entries["version"], entries["align"], entries["size"]) == ("1", "64", str(plan.size))
    assert entries["steps"] == "1 2 3 4 5 6 7"
    assert [node.output[0] for node in made.graph.node] == ["big", "w", "a", "c", "b", "d", "e", "y"]
    values = {
        info.name: {e.key.removeprefix("onnx_infer.arena."): e.value for e in info.metadata_props}
        for info in (*made.graph.value_info, *made.graph.output)
        if info.metadata_props
    }
    assert values.keys() == {b.value for b in plan.buffers}
    at, sizes = plan.at(N=5), {"N": 5}
    roots = {int(v["buffer"]): v for v in values.values() if "below" in v}

    def end(number: int) -> int:
        root = roots[number]
        start = max(map(end, map(int, root["below"].split())), default=0)
        return start + -(-parse(root["bytes"]).to_int(sizes) // 64) * 64 if "N" in root["bytes"] else start + 64

    for buffer in at.buffers:
        entry = values[buffer.value]
        below = roots[int(entry["buffer"])]["below"].split()
        assert buffer.offset == max(map(end, map(int, below)), default=0) + int(entry["start"])
        assert (buffer.first, buffer.last) == (int(entry["first"]), int(entry["last"]))
    with pytest.raises(ArgumentError, match="annotate: the model has no node Relu 'y'"):
        plan.annotate(parsed(text.replace("y", "z")))


def test_values_in_functions_are_listed_in_the_metadata_of_the_model() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 20, "f": 1]> g (float[N] x) => (float[N] y) { y = f.F(x) }'
        ' <opset_import: ["": 20], domain: "f"> F (a) => (c) { b = Exp(a) c = Neg(b) }'
    )
    plan = infer(model).arena()
    made = plan.annotate(model)
    entries = {e.key: e.value for e in made.metadata_props}
    inner = json.loads(entries["onnx_infer.arena.values"])
    assert list(inner) == [b.value for b in plan.buffers if b.value != "y"]
    assert entries["onnx_infer.arena.steps"] == "0 0"
