"""What torch knows of the sizes of an exported program, as options of inference; see docs/coming_from_torch.md.

    from onnx_infer.integrations import onnx_ir, torch as of_torch

    program = torch.onnx.export(module, args, dynamic_shapes=shapes, dynamo=True)
    result = onnx_ir.infer(program.model, **of_torch.facts(program))

torch is not imported: a program is read by the public names of its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import onnx

from onnx_infer.errors import ArgumentError
from onnx_infer.model.size_texts import Size, is_name
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from symdim import Expr, Var
from symdim.algebra.dims import bounds_of
from symdim.parsing import read_dim_param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_infer.model.graph import FrontEnd
    from onnx_infer.values.tensor import Dim


class SizeFacts(TypedDict):
    """What holds of the symbols of a model; the options of `onnx_infer.infer` of these names."""

    bounds: dict[str, tuple[int, int | None]]
    assume: list[str]


_UNCHECKED = 2
"""torch traces a dynamic size as at least 2, but also runs the program with 0 and 1. So a lower end of up to 2 means
nothing."""


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
    symbols = _symbols(shapes, shapes if model is None else _sizes_in(model, [name for name, _ in shapes]))
    found: SizeFacts = {"bounds": {}, "assume": []}
    ranges = [(_read(str(size)), _ends(ends)) for size, ends in exported.range_constraints.items()]
    for size, (low, high) in sorted(ranges, key=lambda item: not isinstance(item[0], Var)):
        if not isinstance(size, Expr) or not size.free_symbols() <= symbols.keys():
            continue
        renamed = size.substitute({name: symbols[name] for name in size.free_symbols()})
        if isinstance(renamed, Var):
            if (low, high) != (1, None):
                found["bounds"][renamed.name] = low, high
        elif isinstance(renamed, Expr):
            found["assume"] += _relations(renamed, low, high, found["bounds"])
    return found


def _ends(ends: Any) -> tuple[int, int | None]:
    """Both ends of a range of torch. Infinity is None."""
    low, high = (int(text) if (text := str(end)).lstrip("-").isdecimal() else None for end in (ends.lower, ends.upper))
    return low if low is not None and low > _UNCHECKED else 1, high


def _relations(size: Expr, low: int, high: int | None, bounds: Mapping[str, tuple[int, int | None]]) -> list[str]:
    """The ends of an interval of an expression that do not follow from the intervals of its symbols."""
    variables = {name: Var.fresh(name, *bounds.get(name, (1, None))) for name in size.free_symbols()}
    known = size.substitute(variables)
    least, most = bounds_of(known)
    below = [f"{size} >= {low}"] if low > 1 and (least is None or least < low) else []
    above = [f"{size} <= {high}"] if high is not None and (most is None or most > high) else []
    return below + above


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


def _symbols(
    given: Sequence[tuple[str, tuple[Size, ...]]], own: Sequence[tuple[str, tuple[Size, ...]]]
) -> dict[str, Dim]:
    """torch's symbols with the sizes that a model has in their place.

    If torch has an expression, as `4*s83`, and the model has `4*q` in its place, then s83 is q.
    """
    found: dict[str, Dim] = {}
    derived: list[tuple[Expr, Dim]] = []
    for (_, sizes), (_, others) in zip(given, own, strict=False):
        for size, other in zip(sizes, others, strict=True) if len(sizes) == len(others) else ():
            of_torch, there = _read(size), _read(other)
            if isinstance(of_torch, Var) and there is not None:
                found.setdefault(of_torch.name, there)
            elif isinstance(of_torch, Expr) and there is not None:
                derived.append((of_torch, there))
    for expression, there in derived:
        new = expression.free_symbols() - found.keys()
        if len(new) == 1 and isinstance(there, Expr):
            (name,) = new
            known = {n: found[n] for n in expression.free_symbols() & found.keys()}
            for candidate in sorted(there.free_symbols()):
                if expression.substitute({**known, name: Var(candidate)}) == there:
                    found[name] = Var(candidate)
    return found


def _read(size: Size) -> Dim | None:
    """A size as torch or a model writes it; None for one without a name."""
    return read_dim_param(size, {size} if is_name(size) else ()) if isinstance(size, str) else size
