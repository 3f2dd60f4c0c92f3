"""Two results side by side: what differs, and what only has other names."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.__main__ import main
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK
from onnx_infer.tools.comparison.comparison import Comparison, compare
from onnx_infer.tools.comparison.report import differences_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = '<ir_version: 10, opset_import: ["": 20]> '
TEXT = """g (float[N, H] x, float[M, 4] w) => (y, k) {
    a = MatMul(x, w) b = Relu(a) y = Add(b, b) k = NonZero(b) }"""


def compared(first: str, second: str) -> Comparison:
    return compare(*(infer(onnx.parser.parse_model(HEAD + text)) for text in (first, second)))


@pytest.mark.parametrize(
    "second",
    [
        TEXT,
        TEXT.replace("N, H", "batch, width").replace("M, 4", "rows, 4"),
        TEXT.replace("a =", "t1 =").replace("(a)", "(t1)").replace("(b)", "(t2)").replace("b =", "t2 =").replace(
            "(b, b)", "(t2, t2)"
        ),
        TEXT.replace("x", "image").replace("y", "logits").replace("k", "indices"),
    ],
    ids=["same", "symbols", "inner names", "ends"],
)  # fmt: skip
def test_names_make_no_difference(second: str) -> None:
    found = compared(TEXT, second)
    assert found.is_equal, found


def test_exchanged_symbols_are_renamed_at_once() -> None:
    found = compared(TEXT, TEXT.replace("N, H", "H, N"))
    assert found.symbols == {"H": "N", "N": "H"}
    assert found.is_equal


def test_equal_sizes_of_other_form_are_equal() -> None:
    chunks = "g (float[N] x) => (y) <int64[2] s = {-1, %s}> { y = Reshape(x, s) }"
    assert not compared(chunks % 2, chunks % 4).is_equal
    pooled = "g (float[1, 1, N] x) => (y) { y = MaxPool<kernel_shape=[%d], strides=[2], pads=[0, %d]>(x) }"
    assert not compared(pooled % (2, 0), pooled % (2, 1)).is_equal


def test_what_differs_is_told() -> None:
    second = (
        TEXT.replace("N, H", "N, 3")
        .replace("Relu(a)", "Sigmoid(a)")
        .replace("y = Add(b, b)", "c = Add(b, b) y = Neg(c)")
    )
    found = compared(TEXT, second)
    assert [(d.first, str(d.first_type), str(d.second_type)) for d in found.inputs] == [("x", "f32[N, H]", "f32[N, 3]")]
    assert (found.outputs, found.values) == ([], [])
    assert [tuple(count) for count in found.operators] == [("Neg", 0, 1), ("Relu", 1, 0), ("Sigmoid", 0, 1)]
    assert (found.only_first, found.only_second) == ([], ["c"])
    assert [str(g) for g in found.guards_first], [str(g) for g in found.guards_second] == (["H == M"], ["M == 3"])


def test_sequences_of_other_elements_differ() -> None:
    text = "g (float[N, %s] x) => (y) { s = SequenceConstruct(x, x) y = SplitToSequence<axis = 0>(x) }"
    assert compared(text % 3, text % 3).is_equal
    found = compared(text % 3, text % 4)
    assert [(d.first, d.second) for d in found.outputs] == [("y", "y")]
    assert str(found.outputs[0].first_type) != str(found.outputs[0].second_type)


def test_equal_structures_are_matched_in_order() -> None:
    text = "g (float[N] x) => (y) { a = Relu(x) b = Relu(x) c = Neg(b) y = Add(a, c) }"
    other = text.replace("a ", "p ").replace("(a", "(p").replace("b ", "q ").replace("(b)", "(q)")
    assert compared(text, other).is_equal
    found = compared(text, other.replace("q = Relu(x)", "q = Abs(x)"))
    assert [(node.first, node.second, node.what) for node in found.nodes] == [("b", "q", "Relu -> Abs")]
    assert (found.only_first, found.only_second) == ([], [])


def test_a_missing_output_and_another_rank() -> None:
    found = compared(TEXT, TEXT.replace("(y, k)", "(y)").replace("float[N, H]", "float[2, N, H]"))
    assert [(d.first, d.second, d.second_type) for d in found.outputs][1:] == [("k", None, None)]
    assert [str(d.second_type) for d in found.outputs][:1] == ["f32[2, N, 4]"]


ALL = """<ir_version: 10, opset_import: ["": 20, "local": 1]>
g (float[N, 4] x, float[N, 4] z, bool c) => (y, k, s)
<float[4] w = {1, 2, 3, 4}, float[4] v = {5, 6, 7, 8}, int64[2] p = {1, 0}> {
    a = Add(x, w) b = Mul(a, v) d = Sub(b, z) e = Softmax<axis = 1>(d)
    f = If(c) <then_branch = t () => (float[Q, 4] q) { q = Relu(e) },
        else_branch = o () => (float[R, 4] r) { m = Neg(e) r = Abs(m) }>
    h = local.scaled<alpha = 2.0>(f) y = Transpose<perm = [1, 0]>(h) k = NonZero(e) s = Clip(b, , )
}
<domain: "local", opset_import: ["": 20]> scaled <alpha> (u) => (n)
{ i = Constant<value_float: float = @alpha>() l = Mul(u, i) n = Exp(l) }"""


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("d = Sub(b, z)", "d = Sub(b, x)", "Sub 'd': input 1: 'z' -> 'x'"),
        ("d = Sub(b, z)", "d = Sub(z, b)", "Sub 'd': input 0: 'b' (Mul) -> 'z'"),
        ("(b, , )", "(b, , w)", "Clip 's': input 2: nothing -> the constant 'w', f32[4]"),
        ("<axis = 1>(d)", "<axis = 0>(d)", "Softmax 'e': attribute axis: 1 -> 0"),
        ("perm = [1, 0]", "perm = [0, 1]", "Transpose 'y': attribute perm: [1, 0] -> [0, 1]"),
        ("alpha = 2.0", "alpha = 2.5", "local::scaled 'h': attribute alpha: 2.0 -> 2.5"),
        ("b = Mul", "b = Div", "Mul 'b': Mul -> Div"),
        ("w = {1, 2, 3, 4}", "w = {1, 2, 5, 0}", "w: f32[4]: 2 of 4 elements differ"),
        ("w = {1, 2, 3, 4}", "w = {1, 2, 3, -0.0}", "w: f32[4]: 1 of 4 elements differ"),
        ("q = Relu(e)", "q = Neg(e)", "Relu 'q' in then_branch of If 'f': Relu -> Neg"),
        ("[Q, 4] q", "[Q, 5] q", "If 'f': the body then_branch declares other types: "),
        ("m = Neg(e) r = Abs(m)", "r = Abs(e)", "Abs 'r' in else_branch of If 'f': input 0: 'm' (Neg) -> 'e'"),
        ("n = Exp(l)", "n = Exp(u)", "Exp 'n' in function local::scaled: input 0: 'l' (Mul) -> 'u'"),
        ("(y, k, s)", "(k, y, s)", "the outputs are in another order: y, k, s -> k, y, s"),
        ("x, float[N, 4] z", "z, float[N, 4] x", "the inputs are in another order: x, z, c -> z, x, c"),
        ("ir_version: 10", "ir_version: 9", "IR version 10 -> 9"),
        ("[\"\": 20, \"local\"", "[\"\": 21, \"local\"", "opset of ai.onnx: 20 -> 21"),
        ("[\"\": 20]> scaled", "[\"\": 19]> scaled", "function local::scaled: opset of ai.onnx: 20 -> 19"),
        ("float[N, 4] z,", "float[N, 3] z,", "+ error: Sub (opset 14) 'd': "),
    ],
)  # fmt: skip
def test_what_a_run_can_tell_apart(old: str, new: str, said: str) -> None:
    assert ALL.count(old) == 1
    models = [onnx.parser.parse_model(ALL), onnx.parser.parse_model(ALL.replace(old, new))]
    for first, second in (models, [models[0], renamed(models[1])]):
        found = infer(first).compare(infer(second))
        assert not found.is_equal
        text = differences_text(found, None, None)
        assert text.startswith("the two models differ\n")
        assert first is not models[0] or second is not models[1] or said in text, text
    back = infer(models[1]).compare(infer(models[0]))
    assert not back.is_equal


def renamed(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with other names of intermediate values and of nodes, also in bodies."""
    kept = {info.name for info in (*model.graph.input, *model.graph.output)} | {""}
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    for graph in graphs_of(copy.graph):
        for named in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
            named.name = named.name if named.name in kept else f"new_{named.name}"
        for node in graph.node:
            node.name = f"node_{node.name}"
            for names in (node.input, node.output):
                names[:] = [name if name in kept else f"new_{name}" for name in names]
    return copy


def resorted(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its nodes in another order that is topological, too."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    left, done = (
        list(copy.graph.node)[::-1],
        {info.name for info in (*copy.graph.input, *copy.graph.initializer)} | {""},
    )
    order = []
    while left:
        ready = next(
            node for node in left
            if done >= {*node.input} and done >= {name for body in list(graphs_of_node(node)) for name in body}
        )  # fmt: skip
        left.remove(ready)
        order.append(onnx.NodeProto.FromString(ready.SerializeToString()))
        done.update(ready.output)
    del copy.graph.node[:]
    copy.graph.node.extend(order)
    return copy


def graphs_of_node(node: onnx.NodeProto) -> list[set[str]]:
    """What the bodies of a node read from around them."""
    found = []
    for body in (attribute.g for attribute in node.attribute if attribute.HasField("g")):
        made = {name for inner in body.node for name in inner.output}
        found.append({name for inner in body.node for name in inner.input} - made)
    return found


def typed_fields(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its constants in other fields: the bytes in place of a list, and as Constant nodes."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    tensors = list(copy.graph.initializer)
    for tensor in tensors:
        new = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name)
        copy.graph.node.insert(0, onnx.helper.make_node("Constant", [], [tensor.name], value=new))
    del copy.graph.initializer[:]
    return copy


def annotated(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with what was inferred, also in bodies."""
    return infer_shapes(model)


@pytest.mark.parametrize(
    "change", [renamed, resorted, typed_fields, annotated, lambda model: renamed(resorted(typed_fields(model)))]
)
def test_what_no_run_can_tell_apart(change: Callable[[onnx.ModelProto], onnx.ModelProto]) -> None:
    model = onnx.parser.parse_model(ALL)
    found = infer(model).compare(infer(change(model)))
    assert found.is_equal, differences_text(found, None, None)


@pytest.mark.parametrize(
    "text, other, is_equal",
    [
        ("a = Relu(x) b = Relu(x) y = Sub(a, b)", "a = Relu(x) b = Relu(x) y = Sub(a, a)", True),
        ("a = RandomNormalLike(x) b = RandomNormalLike(x) y = Sub(a, b)",
         "a = RandomNormalLike(x) b = RandomNormalLike(x) y = Sub(a, a)", False),
        ("a = acme.Any(x) b = acme.Any(x) y = Sub(a, b)", "a = acme.Any(x) b = acme.Any(x) y = Sub(a, a)", False),
        ("y = Softmax<axis = -1>(x)", "y = Softmax(x)", True),
        ("y = Relu(x)", "y = Relu(x) t = Neg(x)", False),
    ],
)  # fmt: skip
def test_nodes_that_compute_the_same(text: str, other: str, is_equal: bool) -> None:
    head = HEAD.replace("]>", ', "acme": 1]>') + "g (float[2, 3] x) => (y) { %s }"
    models = [onnx.parser.parse_model(head % nodes) for nodes in (text, other)]
    assert infer(models[0]).compare(infer(models[1])).is_equal is is_equal


def weighted(folder: Path, data: bytes) -> str:
    """A model in a folder of its own, with external data."""
    folder.mkdir()
    model = onnx.parser.parse_model(HEAD + "g (float[N, 2] x) => (y) { y = Add(x, w) }")
    model.graph.initializer.add(name="w", dims=[2], data_type=1, raw_data=data)
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return str(folder / "m.onnx")


@pytest.mark.parametrize(
    "change, verdict, said",
    [
        (lambda path: None, True, "the two models are equal"),
        (lambda path: path.write_bytes(bytes(7) + b"1"), False, "w: f32[2]: 1 of 2 elements differ"),
        (lambda path: path.unlink(), None, "1 constant: the file 'w.bin': No such file or directory"),
        (lambda path: path.write_bytes(bytes(7)), None, "1 constant: the file 'w.bin': it ends before byte 8"),
        (lambda path: (path.unlink(), os.mkfifo(path)), None, "1 constant: the file 'w.bin': it is not a regular file"),
        (lambda path: (path.unlink(), path.symlink_to("/dev/zero")), None, "1 constant: the file 'w.bin' is outside"),
    ],
)  # fmt: skip
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_external_data(
    change: Callable[[Path], object], verdict: bool | None, said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    paths = [weighted(tmp_path / name, bytes(8)) for name in "ab"]
    change(tmp_path / "b" / "w.bin")
    assert main([paths[0], "--diff", paths[1]]) == (OK if verdict else MODEL_ERRORS)
    out = capsys.readouterr().out
    assert said in out
    assert ("the two models are equal" in out, "it is not known whether they are equal" in out) == (
        verdict is True,
        verdict is None,
    )
    main([paths[0], "--diff", paths[1], "--json"])
    assert json.loads(capsys.readouterr().out)["equal"] is verdict
    found = [infer(path) for path in paths]
    assert found[0].compare(found[0]).not_read == ["1 constant: the folder of the file 'w.bin' was not given"]


def test_a_model_with_errors_is_equal_to_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = onnx.parser.parse_model(HEAD + "g (float[2, 3] x, float[4, 5] w) => (y) { y = MatMul(x, w) }")
    onnx.save(broken, tmp_path / "m.onnx")
    assert main([str(tmp_path / "m.onnx"), "--diff", str(tmp_path / "m.onnx")]) == OK
    assert capsys.readouterr().out == "the two models are equal\n"


def test_what_is_the_same_in_many_nodes_is_one_line() -> None:
    layers = " ".join(f"v{i + 1} = Softmax<axis = %d>(v{i})" for i in range(50))
    texts = [f"g (float[2, 3] v0) => (v50) {{ {layers} }}".replace("%d", axis) for axis in "10"]
    shown = differences_text(compared(*texts), 40, 120).splitlines()
    assert "  Softmax 'v1', 'v2', 'v3' and 47 more (50 nodes): attribute axis: 1 -> 0" in shown
    assert len(shown) < 20
