"""What differs between two models, as text for people and as JSON for programs (docs/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.results.guards import Guard
from onnx_infer.tools.comparison.types import TypeDifference
from onnx_infer.tools.report.layout import limited, text_of
from onnx_infer.tools.report.plain_data import diagnostic_json, guard_json, head_json, plain, type_json
from onnx_infer.tools.report.table import guard_parts, headline
from onnx_infer.values.text import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.tools.comparison.comparison import Comparison
    from onnx_infer.tools.comparison.differences import ConstantDifference, NodeDifference

_MOST_OF_A_KIND = 8
"""The most lines of a section, unless all are asked for. What differs is read from its beginning."""

_MOST_NODES = 3
"""The most nodes that are named where one thing differs in many."""


def differences_text(comparison: Comparison, limit: int | None, width: int | None) -> str:
    """The verdict and what differs, section by section: `-` is only in the first model, `+` only in the second one."""
    limit = None if limit is None else min(limit, _MOST_OF_A_KIND)
    names = comparison.renamed_values + len(comparison.renamed)
    renamed = f", apart from names: {names} values are renamed" if names else ""
    if comparison.differs:
        verdict = "the two models differ"
    elif comparison.not_read:
        verdict = "it is not known whether they are equal: nothing differs in what could be compared"
    else:
        verdict = f"the two models are equal{renamed}"
    causes = [d for d in comparison.values if not d.follows]
    follow = len(comparison.values) - len(causes)
    others = f" ({follow} more follow from what differs before them)" if follow else ""
    told = [f"- {headline(d)}" for d in comparison.diagnostics_first]
    told += [f"+ {headline(d)}" for d in comparison.diagnostics_second]
    ours, theirs = comparison.only_first, comparison.only_second
    ends = [f"  {new} is {old}" for new, old in comparison.renamed.items()]
    sections = [
        ("not compared:", [f"  {line}" for line in comparison.not_read]),
        ("symbols of the second model:", [f"  {new} is {old}" for new, old in comparison.symbols.items()]),
        ("inputs and outputs of the second model:", ends),
        ("model:", [f"  {line}" for line in comparison.model]),
        ("nodes:", _nodes(comparison.nodes)),
        ("constants:", _constants(comparison.initializers)),
        ("inputs:", _types(comparison.inputs)),
        ("outputs:", _types(comparison.outputs)),
        (f"intermediate values{others}:", _types(causes)),
        ("operators:", [f"  {op}: {first} -> {second}" for op, first, second in comparison.operators]),
        (f"{len(ours)} values of the first model alone:", [f"- {name}" for name in ours]),
        (f"{len(theirs)} values of the second model alone:", [f"+ {name}" for name in theirs]),
        ("guards:", _guards("-", comparison.guards_first) + _guards("+", comparison.guards_second)),
        ("errors and warnings:", told),
    ]
    shown = [[heading, *limited(lines, limit)] for heading, lines in sections if lines]
    return text_of([[verdict], *shown], width)


def _nodes(differences: Iterable[NodeDifference]) -> list[str]:
    """A line for each difference; one line for what is the same in many nodes."""
    alike: dict[tuple[str, str], list[str]] = {}
    for place, operator, first, second, _, what in differences:
        name = repr(first) if first == second else f"{first!r} / {second!r}"
        alike.setdefault((operator, what), []).append(f"{name} in {place}" if place else name)
    lines = []
    for (operator, what), names in alike.items():
        others = f" and {len(names) - _MOST_NODES} more" if len(names) > _MOST_NODES else ""
        count = f" ({len(names)} nodes)" if len(names) > 1 else ""
        lines.append(f"  {operator} {', '.join(names[:_MOST_NODES])}{others}{count}: {what}")
    return lines


def _constants(differences: Iterable[ConstantDifference]) -> list[str]:
    return [f"  {a if a == b else f'{a} / {b}'}: {what}" for a, b, what in differences]


def _guards(sign: str, guards: list[Guard]) -> list[str]:
    return [f"{sign} {bounded(''.join(guard_parts(guard)).strip())}" for guard in guards]


def _types(differences: list[TypeDifference]) -> list[str]:
    lines = []
    for first, second, ours, theirs, _ in differences:
        if first is not None and second is not None:
            name = first if first == second else f"{first} / {second}"
            lines += [f"  {name}: {ours}", f"  {'':{len(name)}}  {theirs}"]
        else:
            lines.append(f"- {first}: {ours}" if second is None else f"+ {second}: {theirs}")
    return lines


def differences_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data. "equal" is None if that is not known."""
    fields = comparison._asdict()
    not_read = fields.pop("not_read")
    equal = None if not_read and not comparison.differs else comparison.is_equal
    head = {**head_json(), "equal": equal, "not_compared": not_read}
    return {**head, **{name: _json(field) for name, field in fields.items()}}


def _json(field: object) -> Any:
    if isinstance(field, list):
        return list(map(_json, field))
    if isinstance(field, TypeDifference):
        first, second, ours, theirs, _ = field
        types = None if first is None else type_json(ours), None if second is None else type_json(theirs)
        return {"first": first, "second": second, "first_type": types[0], "second_type": types[1]}
    if isinstance(field, Guard):
        return guard_json(field)
    return diagnostic_json(field) if isinstance(field, Diagnostic) else plain(field)
