"""A comparison of two results as text for people and as plain data for programs (docs/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.tools.report.layout import limited, text_of
from onnx_infer.tools.report.plain_data import guard_json, head_json, type_json
from onnx_infer.tools.report.table import guard_parts

if TYPE_CHECKING:
    from onnx_infer.results.guards import Guard
    from onnx_infer.tools.comparison import Comparison, TypeDifference


def differences_text(found: Comparison, limit: int | None, width: int | None) -> str:
    """What differs, section by section: `-` is only in the first model, `+` only in the second one."""
    if found.is_equal:
        return "the two models do not differ"
    sections = [
        ("symbols of the second model:", [f"  {theirs} is {ours}" for theirs, ours in found.symbols.items()]),
        ("inputs:", _types(found.inputs)),
        ("outputs:", _types(found.outputs)),
        ("inner values:", _types(found.values)),
        ("operators:", [f"  {op}: {first} -> {second}" for op, first, second in found.operators]),
        (f"{len(found.only_first)} values of the first model alone:", [f"- {name}" for name in found.only_first]),
        (f"{len(found.only_second)} values of the second model alone:", [f"+ {name}" for name in found.only_second]),
        ("guards:", _guards("-", found.guards_first) + _guards("+", found.guards_second)),
    ]
    return text_of(([heading, *limited(lines, limit)] for heading, lines in sections if lines), width)


def _guards(sign: str, guards: list[Guard]) -> list[str]:
    return [f"{sign}{''.join(guard_parts(guard))[1:]}" for guard in guards]


def _types(differences: list[TypeDifference]) -> list[str]:
    lines = []
    for first, second, ours, theirs in differences:
        if first is not None and second is not None:
            name = first if first == second else f"{first} / {second}"
            lines += [f"  {name}: {ours}", f"  {'':{len(name)}}  {theirs}"]
        else:
            lines.append(f"- {first}: {ours}" if second is None else f"+ {second}: {theirs}")
    return lines


def differences_json(found: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        **head_json(),
        "equal": found.is_equal,
        "symbols": found.symbols,
        "inputs": _types_json(found.inputs),
        "outputs": _types_json(found.outputs),
        "values": _types_json(found.values),
        "only_first": found.only_first,
        "only_second": found.only_second,
        "operators": [count._asdict() for count in found.operators],
        "guards_first": [guard_json(guard) for guard in found.guards_first],
        "guards_second": [guard_json(guard) for guard in found.guards_second],
    }


def _types_json(differences: list[TypeDifference]) -> list[dict[str, Any]]:
    return [
        {
            "first": first,
            "second": second,
            "first_type": None if first is None else type_json(ours),
            "second_type": None if second is None else type_json(theirs),
        }
        for first, second, ours, theirs in differences
    ]
