"""A call that frees sizes of inputs: `--dynamic images:0=batch`, with `--apply` the changes that this needs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.cli.arguments import WrongCall
from onnx_infer.tools.planning.costs import layer_of
from onnx_infer.tools.report.layout import limited, text_of
from onnx_infer.tools.report.plain_data import head_json, plain
from onnx_infer.tools.report.table import guard_section
from onnx_infer.tools.transforms.dynamic.making import Dynamic, make_dynamic
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from onnx import ModelProto

    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.transforms.dynamic.pinned import Change, Pin
    from onnx_infer.tools.transforms.dynamic.remaining import Doubt


_MOST_NUMBERS = 5
"""The most numbers that a line lists."""

_ONE_PATH = "note: only the traced path was checked; test the model at another size"


EVERY = "*"
"""The name that stands for all inputs."""


def static_cure(result: InferenceResult, symbol: str) -> str:
    """What makes a symbol in a model whose sizes are all numbers.

    >>> import onnx.parser, onnx_infer
    >>> model = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["": 17]> g (float[1, 3] x) => (y) { y = Neg (x) }''')
    >>> static_cure(onnx_infer.infer(model), "batch")
    'all its sizes are numbers; --dynamic x:0=batch in the same call makes a symbol'
    """
    name = next((where.tensor for where, _ in result.sources.axes), "INPUT")
    return f"all its sizes are numbers; --dynamic {name}:0={symbol} in the same call makes a symbol"


def freed(model: ModelProto, options: Namespace) -> Dynamic:
    """The model with the free sizes that are asked for. Raises WrongCall."""
    options.dynamic = [every for given in options.dynamic for every in _each(model, *given)]
    axes: dict[str, dict[int, str]] = {}
    for name, axis, symbol in options.dynamic:
        axes.setdefault(name, {})[axis] = symbol
    try:
        return make_dynamic(model, axes, apply=options.apply, unfinished=options.unfinished)
    except ArgumentError as error:
        raise WrongCall(f"--{error}") from None


def _each(model: ModelProto, name: str, axis: int, symbol: str) -> list[tuple[str, int, str]]:
    """The inputs that `*` stands for: those with the number at this axis that the first one of them has there."""
    if name != EVERY:
        return [(name, axis, symbol)]
    weights = {weight.name for weight in model.graph.initializer}
    numbers = {}
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        if info.name not in weights and axis < len(dims) and dims[axis].HasField("dim_value"):
            numbers[text(info.name)] = dims[axis].dim_value
    if not numbers:
        raise WrongCall(f"--dynamic *:{axis}: no input has a number at axis {axis}")
    first = next(iter(numbers.values()))
    return [(other, axis, symbol) for other, number in numbers.items() if number == first]


def report(made: Dynamic, options: Namespace, limit: int | None, width: int | None) -> str:
    """What was freed, the changes, what still pins a size, and the types of the outputs; as text or JSON."""
    if options.json:
        return json.dumps(_plain(made, options), indent=1)
    sizes = ", ".join(
        f"{name} axis {axis} -> {symbol} (was {made.traced[symbol]})" for name, axis, symbol in options.dynamic
    )
    outputs = [f"  {name}: {made.result.types[name]}" for name in made.result.outputs if name in made.result.types]
    sections = [[f"{'made dynamic' if is_done(made) else 'to make dynamic'}: {sizes}"]]
    if made.changes:
        how = "use --unfinished to make them anyway" if options.apply else "use --apply to make them"
        heading = "changed:" if made.applied else f"proposed changes ({how}):"
        sections.append([heading, *limited(alike(made.changes), limit)])
    if made.pins:
        pins = alike(made.pins)
        sections.append(["needs manual changes (still fixed to the exported size):", *limited(pins, limit)])
    if made.doubts:
        heading = "check these numbers: they may come from the example input:"
        sections.append([heading, *limited(grouped(made.doubts), limit)])
    sections.append(guard_section("required", made.result.guards, limit, width))
    sections.append(["outputs:", *outputs])
    if is_done(made):
        symbols = list(made.traced)
        verb = "is" if len(symbols) == 1 else "are"
        sections.append([f"done: {', '.join(symbols)} {verb} now dynamic", _ONE_PATH])
    else:
        counts = {"pin": len(made.pins), "doubt": len(made.doubts)}
        left = [f"{number} {what}{'s' * (number != 1)}" for what, number in counts.items() if number]
        what_is_left = f"{' and '.join(left)} left" if left else "the changes are not made"
        sections.append([f"not yet dynamic: {what_is_left}"])
    return text_of(sections, width)


def is_done(made: Dynamic) -> bool:
    """Whether the model is free: nothing is left, and all changes are made."""
    return made.is_free and (made.applied or not made.changes)


def alike(steps: Sequence[Change | Pin]) -> list[str]:
    """A line for each change or pin, one for those that differ only in the numbers in their names.

    >>> from onnx_infer.tools.transforms.dynamic.pinned import Pin
    >>> for line in alike([Pin("Expand", f"/layers.{i}/Expand", "the size 1", "a new export") for i in range(4)]):
    ...     print(line)
      Expand '/layers.0/Expand': the size 1; a new export (the same in 4 layers)
    """
    groups: dict[str, list[Change | Pin]] = {}
    for each in steps:
        key = re.sub("'[^']*'", lambda name: re.sub(r"\d+", "#", name[0]), str(each))
        groups.setdefault(key, []).append(each)
    lines = []
    for same in groups.values():
        layers = {layer_of(each.node) for each in same} - {""}
        where = f"in {len(layers)} layers" if len(layers) == len(same) else f"at {len(same)} nodes"
        lines.append(f"  {same[0]} (the same {where})" if len(same) > 1 else f"  {same[0]}")
    return lines


def grouped(doubts: Iterable[Doubt]) -> list[str]:
    """One line for all numbers of one kind at one axis, as the trace of a loop over the axis leaves them.

    >>> from onnx_infer.tools.transforms.dynamic.remaining import Doubt
    >>> grouped(Doubt("Gather", f"x{i}", f"index {i} on axis 1 of size S") for i in range(1, 9))
    ["  Gather 'x1' and 7 others: index 1 to 8 on axis 1 of size S"]
    """
    groups: dict[tuple[str, str, str], list[tuple[int, Doubt]]] = {}
    for doubt in doubts:
        before, number, after = re.split(r"(-?\d+)", doubt.what, maxsplit=1)
        groups.setdefault((doubt.operator, before, after), []).append((int(number), doubt))
    lines = []
    for (operator, before, after), members in groups.items():
        nodes = list(dict.fromkeys(doubt.node for _, doubt in members))
        others = f" and {len(nodes) - 1} other{'s' * (len(nodes) > 2)}" if len(nodes) > 1 else ""
        lines.append(f"  {operator} '{nodes[0]}'{others}: {before}{_listed(sorted({n for n, _ in members}))}{after}")
    return lines


def _listed(numbers: list[int]) -> str:
    """Numbers in order as a text: `1 to 8`, or the first ones and the last one."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    few = numbers if len(numbers) <= _MOST_NUMBERS else [*numbers[: _MOST_NUMBERS - 1], "...", numbers[-1]]
    return ", ".join(map(str, few))


def _plain(made: Dynamic, options: Namespace) -> dict[str, Any]:
    types = made.result.types
    fields = ("operator", "node", "operand", "kind", "at", "old", "new")
    return {
        **head_json(),
        "applied": made.applied,
        "free": is_done(made),
        "symbols": made.traced,
        "changes": [{field: plain(getattr(change, field)) for field in fields} for change in made.changes],
        "pins": plain(made.pins),
        "doubts": plain(made.doubts),
        "inputs": {name: str(types[name]) for name in made.result.inputs},
        "outputs": {name: str(types[name]) for name in made.result.outputs if name in types},
    }
