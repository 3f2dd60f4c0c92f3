"""Module paths of earlier releases give today's modules."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import onnx_infer
import symdim
from symdim.former_paths import MOVED, install

PUBLIC = {
    "onnx_infer": "ArgumentError Diagnostic Dim Dynamic ExternalDataError Guard InferenceResult Map Materialized "
    "NoModelError Node OpShapeInferenceRegistry OpUsageError Optional Sequence ShapeInferenceContext "
    "ShapeInferenceError ShapeMergePolicy Sparse SymTensor Unknown UnknownSymbol ValueInfo Violation broadcast_shapes "
    "check_inputs fold infer infer_function_output_types infer_node_outputs infer_shapes infer_shapes_path "
    "infer_symbolic_shapes make_dynamic materialize op registry rename_symbols require_attr",
    "onnx_infer.bidirectional": "infer_both_ways",
    "onnx_infer.constraints": "BoundForm FAMILIES Operand bound_form form forms state",
    "onnx_infer.context": "Node ShapeInferenceContext ValueInfo broadcast_shapes check_inputs require_attr",
    "onnx_infer.engine": "Attributes Engine NOTHING Outcome Scope Subgraph apply",
    "onnx_infer.ops.contrib": "contrib",
    "onnx_infer.fleets": "Limits Totals files_of lines_of run_fleet",
    "onnx_infer.ops.kinds": "AnyRank AnyRanks Dim Elements Floats Graph IntVector Ints Scalar Shape Sizes Strings "
    "SymTensor Value Values Variadic Windows",
    "onnx_infer.rules": "AnyRank AnyRanks Dim Elements Floats Graph Ints Map Optional SAME Sequence Shape Sizes Sparse "
    "Strings SymTensor Unknown Value Values Variadic Windows broadcast ceildiv conflicting demand dtype element "
    "exact_quotient fresh lift maximum minimum normalize_axes normalize_axis of_rank op product registry require "
    "run_case slice_length unify unify_shapes",
    "onnx_infer.testing": "const_value infer_node read_attributes read_value run_case run_shape_inference "
    "run_shape_inference_with_values split ts",
    "symdim": "Add Axes Bindings BoundsError BroadcastError Computed Const Declared DivisionByZero EinsumSpec "
    "Expr Facts FloorDiv Guarantee INFER InputDim Max Min Mod Mul NegativeSize NotDivisible ParseError RankError "
    "ReshapeError Row RowVar Scope Shape SizeOverflow Store SymdimError UnboundName UnsupportedDynamicShape ValueOf "
    "Var as_exact at_least bound_expr bound_shape broadcast_shapes ceildiv check clear_caches compile_shape equal "
    "exact_shape from_sympy guarantee_of is_infer leaf_count maximum minimum parse plan product quotient_by_positive "
    "read_dim_param require_exact require_exact_shape require_rank simplify text_in to_sympy total",
    "symdim.canonical": "add args_of bounds_of ceildiv clear_memo constant evaluate floordiv maximum minimum mod "
    "multiply power product quotient_by_positive reduced substitute subtract to_int to_text total variables_of",
    "symdim.einsum": "EinsumSpec Inference Padding Plan Spec SpecError discardable padding_of parse_spec "
    "parse_subscripts plan plan_batch_slice plan_compose plan_pointwise plan_transpose state",
    "symdim.store": "Contradiction Guard Origin Store",
}
"""Public module -> the names that have been in its `__all__`, also in earlier releases."""


@pytest.mark.parametrize("former", sorted(MOVED))
def test_a_former_path_gives_the_same_module(former: str) -> None:
    module = import_module(MOVED[former])
    spec = module.__spec__
    assert import_module(former) is module
    assert module.__spec__ is spec
    assert module.__name__ == MOVED[former]


@pytest.mark.parametrize("former", sorted(PUBLIC))
def test_public_names_of_earlier_releases_are_still_there(former: str) -> None:
    module = import_module(former)
    for name in PUBLIC[former].split():
        assert getattr(module, name) is not None, name
        assert name in getattr(module, "__all__", [name]), name


@pytest.mark.parametrize("n", [symdim.Var("N"), 6 * symdim.Var("N") - 1, 7, -7])
def test_a_quotient_by_a_positive_size_is_the_quotient(n: symdim.Dim) -> None:
    assert symdim.quotient_by_positive(n, 2) == n // 2
    assert symdim.quotient_by_positive(n, symdim.Var("M")) == n // symdim.Var("M")


def test_a_name_that_never_was_is_not_found() -> None:
    assert find_spec("symdim.nothing") is None
    with pytest.raises(ImportError):
        import_module("onnx_infer.nothing")


def test_pickles_that_name_former_paths_load() -> None:
    shape = symdim.Shape([symdim.Var("N") // 2, 3])
    tensor = onnx_infer.SymTensor(1, (shape[0],))
    for value in (shape, tensor):
        text = pickle.dumps(value, protocol=0)
        for former, today in MOVED.items():
            text = text.replace(f"c{today}\n".encode(), f"c{former}\n".encode())
        assert b"algebra" not in text
        assert pickle.loads(text) == value


def test_a_former_path_works_in_a_fresh_interpreter() -> None:
    program = "from onnx_infer.tensor import SymTensor; import onnx_infer; assert SymTensor is onnx_infer.SymTensor"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_finder_is_installed_once() -> None:
    former = list(sys.meta_path)
    install()
    assert sys.meta_path == former


@pytest.mark.parametrize("name", ["prove", "einsum"])
def test_modules_of_the_top_are_loaded_when_they_are_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(symdim, name)
    assert getattr(symdim, name) is sys.modules[f"symdim.{name}"]
