"""What the rules say of operators besides types, compared with tables."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import onnx_infer
from onnx_infer.operators.registration import registry

from .texts import parsed

PACKAGE = Path(onnx_infer.__file__).parent


def operators_with(trait: str, value: Any = True) -> set[str]:
    """The operators of the default domain of which some rule has this value of a trait."""
    rules = [rule for domain, name, _ in registry.supported() for rule in registry.versions(domain, name)]
    return {rule.name for rule in rules if not rule.domain and getattr(rule.traits, trait) == value}


TABLE = {
    ("view", "whole"): "Flatten Identity Reshape Squeeze Unsqueeze",
    ("in_place", "rows"): """BatchNormalization GroupNormalization Hardmax InstanceNormalization LayerNormalization
        LogSoftmax LpNormalization MeanVarianceNormalization RMSNormalization Softmax""",
    ("random", True): """Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform
        RandomUniformLike""",
    ("indices", (1,)): """Gather GatherElements GatherND NegativeLogLikelihoodLoss Scatter ScatterElements ScatterND
        SoftmaxCrossEntropyLoss""",
    ("same", "alike"): "Cast CastLike Expand Tile",
}


@pytest.mark.parametrize(("trait", "value"), TABLE, ids=str)
def test_traits(trait: str, value: Any) -> None:
    assert operators_with(trait, value) == set(TABLE[trait, value].split())


TABLES_ELSEWHERE = {
    "protobuf/lint/checking.py": "operators that onnx removed, of which its checker prints a line",
    "protobuf/nodes.py": "nodes with graphs are read without a look-up of their operator",
    "tools/transforms/dynamic/pinned.py": "operators whose results have a size by several operands",
    "tools/transforms/dynamic/writing.py": "operators that make_dynamic writes",
}


def test_no_other_file_has_a_table_of_operators() -> None:
    """A law of an operator stands at its rule, so an operator of a plug-in can have it too."""
    names = {name for _, name, _ in registry.supported()}
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place.startswith(("ops/", "constraints/")) or place == "rules.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            listed = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
            texts = [x.value for x in listed if isinstance(x, ast.Constant) and isinstance(x.value, str)]
            if len([text for text in texts if text.rpartition("::")[2] in names]) > 1:
                found.add(place)
    assert found == set(TABLES_ELSEWHERE)


NODES = {
    "Flatten": "y = Flatten(x)", "Identity": "y = Identity(x)", "Reshape": "y = Reshape(x, t)",
    "Squeeze": "y = Squeeze(x, a)", "Unsqueeze": "y = Unsqueeze(x, a)",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(operators_with("view", "whole")))
def test_a_view_has_all_elements_in_their_order(name: str) -> None:
    text = f"g (float[2, 1, 3] x) => (y) <int64[2] t = {{3, 2}}, int64[1] a = {{1}}> {{ {NODES[name]} }}"
    x = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    (y,) = ReferenceEvaluator(parsed(text)).run(None, {"x": x})
    assert y.ravel().tolist() == x.ravel().tolist()


@pytest.mark.parametrize("name", sorted(operators_with("in_place", "elements")))
def test_what_is_computed_in_place_needs_only_elements_at_its_place(name: str) -> None:
    """The second half of the result is that of the second halves of the operands."""
    schema = onnx.defs.get_schema(name)
    kinds = {kind for t in schema.inputs for kind in _types(schema, t.type_str)}
    dtype = next(dtype for word, dtype in DTYPES.items() if f"tensor({word})" in kinds)
    count = 3 if name == "Where" else 2 if len(schema.inputs) > 1 and name not in ("Clip", "Dropout") else 1
    rng = np.random.default_rng(0)
    given = [np.abs(rng.normal(1.5, 0.2, 8)).astype(dtype) for _ in range(count)]
    if name in ("Where", "Not", "And", "Or", "Xor"):
        given[0] = rng.integers(0, 2, 8).astype(bool)
    if name in ("And", "Or", "Xor"):
        given[1] = rng.integers(0, 2, 8).astype(bool)
    attributes: dict[str, Any] = {"direction": "LEFT"} if name == "BitShift" else {"fmod": 1} if name == "Mod" else {}
    node = helper.make_node(name, [f"x{i}" for i in range(count)], ["y"], **attributes)
    with np.errstate(invalid="ignore"):  # not every function has a value everywhere
        whole, second = (_run(node, [x[start:] for x in given]) for start in (0, 4))
    assert whole.shape == (8,)
    np.testing.assert_array_equal(whole[4:], second)


DTYPES: dict[str, Any] = {"float": np.float32, "bool": bool, "uint64": np.uint64, "int64": np.int64}


def _types(schema: onnx.defs.OpSchema, name: str) -> list[str]:
    constraints = {t.type_param_str: list(t.allowed_type_strs) for t in schema.type_constraints}
    return constraints.get(name, [name])


def _run(node: onnx.NodeProto, given: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    inputs = [
        helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for i, x in enumerate(given)
    ]
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", onnx.defs.onnx_opset_version())])
    (y,) = ReferenceEvaluator(model).run(None, {f"x{i}": x for i, x in enumerate(given)})
    assert isinstance(y, np.ndarray)
    return y
