"""What torch knows of the sizes of an exported program, as options of inference; see docs/coming_from.md.

    from onnx_infer.integrations import onnx_ir, torch as of_torch

    program = torch.onnx.export(module, args, dynamic_shapes=shapes, dynamo=True)
    result = onnx_ir.infer(program.model, **of_torch.facts(program))

torch is not imported: a program is read by the public names of its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import onnx

from onnx_infer.errors import ArgumentError
from onnx_infer.model.size_texts import Size
from onnx_infer.model.torch_ranges import Range, stated, symbols_at
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from symdim.relations.relation import SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_infer.model.graph import FrontEnd


class SizeFacts(TypedDict):
    """What holds of the symbols of a model; the options of `onnx_infer.infer` of these names."""

    bounds: dict[str, tuple[int, int | None]]
    assume: list[str]


def facts(program: Any, model: Any = None) -> SizeFacts:
    """The `range_constraints` of a torch `ExportedProgram` or `ONNXProgram` as `bounds` and `assume`.

    The names are those in the inputs of `model`, a ModelProto or an `onnx_ir.Model` that was exported from the program.
    Without a model they are those of the ONNXProgram's own model, or those of torch. Symbols that are no sizes of
    inputs are left out. torch does not check a lower end of up to 2; it becomes 1.
    """
    exported = getattr(program, "exported_program", program)
    if not hasattr(exported, "range_constraints"):
        raise ArgumentError(
            f"facts are read from an ExportedProgram or ONNXProgram of torch, not {type(program).__name__}"
        )
    shapes = list(_input_shapes(exported))
    if model is None:
        model = getattr(program, "model", None)
    own = shapes if model is None else _sizes_in(model, [name for name, _ in shapes])
    symbols = symbols_at(
        pair
        for (_, sizes), (_, others) in zip(shapes, own, strict=False)
        for pair in (zip(sizes, others, strict=True) if len(sizes) == len(others) else ())
    )
    ranges = [Range.of(size, ends.lower, ends.upper) for size, ends in exported.range_constraints.items()]
    statements, _ = stated(ranges, symbols)
    relations = [f"{guard.left} {SIGNS[guard.relation]} {guard.right}" for guard in statements.guards]
    return {"bounds": dict(statements.bounds), "assume": relations}


# -- the symbols of the model -----------------------------------------------------------------------------------------


def _input_shapes(exported: Any) -> Iterator[tuple[str, tuple[Size, ...]]]:
    """The inputs of the user that are tensors, with their sizes."""
    placeholders = {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}
    for name in exported.graph_signature.user_inputs:
        value: Any = placeholders.get(name) if isinstance(name, str) else None
        if hasattr(value, "shape"):
            yield name, tuple(size if isinstance(size, int) else str(size) for size in value.shape)


def _sizes_in(model: Any, names: Sequence[str]) -> list[tuple[str, tuple[Size, ...]]]:
    """The sizes of a model's inputs: those of the same names, or else all in their order, if they are as many."""
    front: FrontEnd
    if isinstance(model, onnx.ModelProto):
        front = ModelProtoFrontEnd(model)
    else:
        from onnx_infer.integrations.onnx_ir_reader import OnnxIRFrontEnd

        front = OnnxIRFrontEnd(model)
    inputs = {name: tuple(sizes) for name, sizes in front.inputs()}
    if inputs.keys() >= set(names):
        return [(name, inputs[name]) for name in names]
    return list(inputs.items()) if len(inputs) == len(names) else []
