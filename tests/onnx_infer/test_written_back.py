"""What a model holds beside inferred types is written back byte for byte, by everything that writes a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import TypeProto, ValueInfoProto

import onnx_infer
from onnx_infer.__main__ import main
from onnx_infer.inference import CHOICES
from onnx_infer.integrations import onnx_ir
from onnx_infer.integrations.onnxruntime import SymbolicShapeInference
from onnx_infer.protobuf.declarations import innermost_dims, innermost_tensor, nested
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.protobuf.specialize import specialize
from onnx_infer.protobuf.wire import field, type_bytes
from onnx_infer.tools.transforms.dynamic.making import make_dynamic
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Write = Callable[[onnx.ModelProto, Path], onnx.ModelProto]

TEXT = """<ir_version: 10, opset_import: ["": 20, "f": 1, "acme": 1]>
g (float[N, 6] x, float[2, 6] z, bool c, int64 n) => (float[A, B] y, k, float[C, 6] last) <
        float[M, 6] t, float[2] w = {1.0, 2.0}, float[N, 6] odd, float[N, 6] dead, int64[2] s, float[3, 6] wrong,
        float[7] e> {
    t = Neg (x)
    wrong = Abs (x)
    s = Shape (t)
    k = Reshape (t, s)
    odd = acme.Odd (t)
    e = Mul (w, w)
    y = f.F (t)
    p = If (c) <
        then_branch = then () => (float[N, 6] a) <float[Q, 6] u, float[2] v> {
            u = Neg (t)  v = acme.Odd (u)  a = Relu (u) },
        else_branch = other () => (float[N, 6] b) <float[N, 6] u> { u = Abs (t)  b = Relu (u) }>
    q = Loop (n, c, p) <body = body (int64 i, bool d, float[N, 6] l) => (bool f, float[N, 6] m) <float[N, 6] o> {
        f = Identity (d)  o = Add (l, z)  m = Neg (o) }>
    last = Identity (q)
}
<domain: "f", opset_import: ["": 20, "acme": 1]>
F (a) => (b) { h = Neg (a)  j = acme.Odd (h)  b = Abs (h) }"""

OPAQUE = TypeProto(opaque_type=TypeProto.Opaque(domain="acme", name="Tokens"))
TENSOR, SPARSE = SymTensor(1, (2, 3)), Sparse(1, (2, 3))
KINDS = [
    OPAQUE,
    TypeProto(sequence_type=TypeProto.Sequence(elem_type=OPAQUE)),
    TypeProto(optional_type=TypeProto.Optional(elem_type=OPAQUE)),
    TypeProto(map_type=TypeProto.Map(key_type=7, value_type=OPAQUE)),
    TypeProto(optional_type=TypeProto.Optional(elem_type=TypeProto(sequence_type=TypeProto.Sequence(elem_type=OPAQUE)))),
    *(TypeProto.FromString(type_bytes(kind))
      for kind in (SPARSE, TENSOR, Sequence(TENSOR), Optional(SPARSE), Map(7, Sequence(TENSOR)))),
]  # fmt: skip
"""The types of values that no rule knows."""


def graphs(model: onnx.ModelProto) -> Iterator[Any]:
    return (graph for root in (model.graph, *model.functions) for graph in graphs_of(root))


def infos(graph: Any) -> Iterator[ValueInfoProto]:
    """All value infos of a graph or function."""
    if isinstance(graph, onnx.GraphProto):
        yield from (*graph.input, *graph.output)
    yield from graph.value_info


def unknown(number: int) -> bytes:
    """A field that no protobuf of today knows."""
    return b"\xa2\x06" + field(1, bytes([number]))[1:]


def fill(info: ValueInfoProto, is_known: bool) -> None:
    """Give a value info everything that it may hold, with `is_known` without unknown fields."""
    extra: Callable[[int], bytes] = (lambda _: b"") if is_known else unknown
    info.doc_string = f"what {info.name} is"
    info.metadata_props.add(key="namespace", value="block.0")
    info.MergeFromString(extra(1))
    for i, part in enumerate(nested(info.type)):
        part.denotation = f"TYPE_{i}"
        part.MergeFromString(extra(2))
    for i, dim in enumerate(innermost_dims(info.type)):
        dim.denotation = f"AXIS_{i}"
        dim.MergeFromString(extra(3))
    tensor = innermost_tensor(info.type)
    if tensor is not None:
        tensor.MergeFromString(extra(4))
        if tensor.HasField("shape"):
            tensor.shape.MergeFromString(extra(5))


def full_model(is_known: bool = False) -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    function = model.functions[0]
    for name, sizes in (("a", ["N", 6]), ("b", ["N", 6]), ("h", ["N", 6]), ("j", ["N", 6])):
        function.value_info.append(onnx.helper.make_tensor_value_info(name, 1, sizes))
    for graph in (model.graph, function, *list(graphs(model))[1:2]) if not is_known else ():
        for i, kind in enumerate(KINDS):
            graph.node.add(op_type="Odd", domain="acme", input=[graph.node[0].output[0]], output=[f"kind{i}"])
            graph.value_info.add(name=f"kind{i}", type=kind)
    if not is_known:
        model.graph.value_info.add(name="t", doc_string="a second one").type.CopyFrom(model.graph.value_info[0].type)
        for info in (model.graph.input[0], model.graph.output[0]):
            model.graph.value_info.append(info)
    for graph in graphs(model):
        for info in infos(graph):
            fill(info, is_known)
    return model


def beside_types(info: ValueInfoProto) -> bytes:
    """All that a value info holds but for element types and sizes."""
    rest = ValueInfoProto()
    rest.CopyFrom(info)
    tensor = innermost_tensor(rest.type)
    if tensor is not None:
        tensor.ClearField("elem_type")
        for dim in tensor.shape.dim:
            dim.ClearField("value")
        if not any(dim.ByteSize() for dim in tensor.shape.dim):  # nothing was declared
            del tensor.shape.dim[:]
        if not tensor.shape.ByteSize():
            tensor.ClearField("shape")
        if not tensor.ByteSize():
            rest.type.ClearField("value")
    if not rest.type.ByteSize():
        rest.ClearField("type")
    return bytes(rest.SerializeToString(deterministic=True))


def held(model: onnx.ModelProto) -> dict[tuple[str, str, int], bytes]:
    """What the value infos of a model hold beside types: (graph, name, how many of the name before) -> bytes."""
    found: dict[tuple[str, str, int], bytes] = {}
    for graph in graphs(model):
        for info in infos(graph):
            count = sum(key[:2] == (graph.name, info.name) for key in found)
            found[graph.name, info.name, count] = beside_types(info)
    return found


def by_path(*options: str) -> Write:
    def write(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
        path, out = folder / "model.onnx", folder / "out.onnx"
        onnx.save(model, path)
        target = ["--in-place"] if "--in-place" in options else ["-o", str(out)]
        assert main([str(path), *options, *target]) < 2
        return onnx.load(path if "--in-place" in options else out)

    return write


def infer_shapes_path(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    onnx.save(model, folder / "model.onnx")
    onnx_infer.infer_shapes_path(folder / "model.onnx", folder / "out.onnx")
    return onnx.load(folder / "out.onnx")


def policy(name: Any, **options: Any) -> Write:
    return lambda model, _: onnx_infer.infer_shapes(model, policy=name, **options)


AXES = {"x": {1: "W"}, "z": {1: "W"}}
WRITERS: dict[str, Write] = {
    **{f"infer_shapes, {name}": policy(name) for name in CHOICES["policy"] if name != "strict"},
    "infer_shapes, both directions": policy("refine", bidirectional=True),
    "infer_shapes, in place": policy("refine", in_place=True),
    "infer_symbolic_shapes": lambda model, _: onnx_infer.infer_symbolic_shapes(model),
    "infer_shapes_path": infer_shapes_path,
    "onnxruntime's name": lambda model, _: SymbolicShapeInference.infer_shapes(model, auto_merge=True),
    "-o": by_path(),
    "--in-place": by_path("--in-place"),
    "--bind": by_path("--bind", "N=3"),
    "--rename": by_path("--rename", "N=batch"),
    "--input-shape": by_path("--input-shape", "x:3,6"),
    "--fold": by_path("--fold"),
    "--dynamic": by_path("--dynamic", "x:1=W", "--apply", "--unfinished"),
    "make_dynamic": lambda model, _: make_dynamic(model, AXES).model,
    "fold": lambda model, _: onnx_infer.fold(model),
    "specialize": lambda model, _: specialize(model, {"N": 3}),
    "rename_symbols": lambda model, _: onnx_infer.rename_symbols(model, {"N": "batch"}),
    "twice": lambda model, _: onnx_infer.infer_shapes(onnx_infer.infer_shapes(model)),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_not_inferred_stays(writer: str, tmp_path: Path) -> None:
    model = full_model()
    before = held(model)
    written = WRITERS[writer](model, tmp_path)
    after = held(written)
    for key, kept in before.items():
        if "fold" not in writer or key in after:  # fold removes values
            assert after[key] == kept, (key, ValueInfoProto.FromString(after[key]), ValueInfoProto.FromString(kept))
    assert len(after) > len(before) or "fold" in writer or writer in ("specialize", "rename_symbols")


def bare(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without all that `fill` gives."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.DiscardUnknownFields()
    for info in (info for graph in graphs(copy) for info in infos(graph)):
        info.ClearField("doc_string")
        info.ClearField("metadata_props")
        for part in (*nested(info.type), *innermost_dims(info.type)):
            part.ClearField("denotation")
    return copy


def test_the_types_are_those_of_a_model_without_more() -> None:
    def types(model: onnx.ModelProto) -> dict[tuple[str, str], bytes]:
        found = [(graph.name, info) for graph in graphs(bare(model)) for info in infos(graph)]
        return {(graph, info.name): info.type.SerializeToString() for graph, info in found}

    model = full_model()
    found = types(onnx_infer.infer_shapes(model))
    assert found == types(onnx_infer.infer_shapes(bare(model)))
    sizes = [d.dim_param or d.dim_value for d in innermost_dims(TypeProto.FromString(found["g", "t"]))]
    assert sizes == ["N", 6]


def test_onnx_ir_keeps_what_it_reads() -> None:
    model = full_model(is_known=True)
    read = ir.from_proto(model)
    before = held(ir.to_proto(read))
    after = held(ir.to_proto(onnx_ir.infer_shapes(read)))
    assert {key: after[key] for key in before} == before


@pytest.mark.parametrize("shape", ["[3, 6, 1]", "[]", ""])
def test_denotations_of_axes_go_with_the_rank(shape: str) -> None:
    """Those of types stay, and everything else."""
    text = f"g (float[N, 6] x) => (y) <float{shape} t> {{ t = Neg (x)  y = Abs (t) }}"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20]> {text}')
    fill(model.graph.value_info[0], is_known=True)
    (t,) = onnx_infer.infer_shapes(model).graph.value_info
    assert [(d.dim_param or d.dim_value, d.denotation) for d in innermost_dims(t.type)] == [("N", ""), (6, "")]
    assert (t.type.denotation, t.doc_string, len(t.metadata_props)) == ("TYPE_0", "what t is", 1)


def test_a_sequence_of_what_is_not_known_is_not_written() -> None:
    """A type without that of its elements is no type."""
    text = "g (x) => (y) { t = acme.Tokens (x)  s = SequenceConstruct (t)  y = acme.Odd (s) }"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20, "acme": 1]> {text}')
    model = onnx_infer.infer_shapes(model)
    assert not model.graph.value_info
