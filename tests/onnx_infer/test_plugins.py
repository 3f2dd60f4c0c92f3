"""Operators of other distributions: the entry-point group `onnx_infer.ops`, loaded at the first unknown operator."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import helper

from onnx_infer import OpShapeInferenceRegistry, infer
from onnx_infer.operators import registration as registration_module
from onnx_infer.operators.registration import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Entry:
    """An installed entry point, as `importlib.metadata` gives it."""

    def __init__(self, register: Callable[[], object]) -> None:
        self.register, self.loaded = register, 0

    def load(self) -> object:
        self.loaded += 1
        return self.register()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Entry]:
    """A plug-in with a rule for `com.plugin::Widen`, installed for one test."""

    def register() -> object:
        return registry.op("Widen", domain="com.plugin", replace=True)(lambda X, by=1: (*X.dims[:-1], X.dims[-1] * by))

    entry = Entry(register)

    def entry_points(*, group: str) -> list[Any]:
        return [entry] if group == "onnx_infer.ops" else []

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    monkeypatch.setattr(registry, "_plugins", registration_module._load_plugins)
    monkeypatch.setattr(registry, "_found", {})
    yield entry
    registry._rules.pop(("com.plugin", "Widen"), None)


def model_of(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", 1, ["N", 3])
    graph = helper.make_graph(nodes, "g", [x], [onnx.ValueInfoProto(name="y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.plugin", 1)])


def test_an_unknown_operator_loads_the_plugins_once(installed: Entry) -> None:
    known = infer(model_of(helper.make_node("Relu", ["x"], ["y"])))
    assert (str(known.types["y"]), installed.loaded) == ("f32[N, 3]", 0)
    widen = model_of(helper.make_node("Widen", ["x"], ["y"], domain="com.plugin", by=2))
    assert str(infer(widen).types["y"]) == "f32[N, 6]"
    other = infer(model_of(helper.make_node("Narrow", ["x"], ["y"], domain="com.plugin")))
    assert "no rule for com.plugin::Narrow" in other.notes["y"]
    assert installed.loaded == 1


def test_a_plugin_that_fails_to_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise ImportError("a plug-in without its dependency")

    own = OpShapeInferenceRegistry(plugins=fails)
    with pytest.raises(ImportError, match="without its dependency"):
        own.get("com.plugin", "Widen", 1)
