"""Where the type of one value comes from: its node, its operands, and the origin of everything that is not exact."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.results.exactness import is_exact, lacks_elements, variables
from onnx_infer.results.reasons import Reason, Reasons
from onnx_infer.tools.report.layout import WIDTH, beside, wrapped
from onnx_infer.values.text import printable, text
from symdim import Expr, Var

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.report.layout import Write
    from onnx_infer.values.tensor import Value


class Step(NamedTuple):
    """A value, the node that gives it (None: an input or initializer), and the messages about that node.

    `fresh`: the variables in its sizes that are not symbols of the inputs. `computed`: the sizes that none of its
    operands has, so that its node computes them.
    """

    value: str
    fresh: list[Var]
    node: Node | None
    operands: list[str]
    guards: list[Guard]
    errors: list[Diagnostic]
    reason: Reason | None
    computed: Sequence[Expr] = ()


def steps(result: Inferred, name: str) -> list[Step]:
    """The steps from a value back to the origins of its sizes: to the causes of what is not exact, or to the inputs.

    Of an exact value, these are the nodes that compute its sizes, and the inputs with the symbols in them; if its node
    has an error, also those of its operands. Nodes that only pass the sizes on are left out.

    Raises KeyError for a name that the main graph does not have.
    """
    reasons, types = Reasons(result), result.types
    guards: dict[str, list[Guard]] = {}
    for guard in (*result.guards, *result.data_guards):
        for origin in guard.origins:
            guards.setdefault(origin.node, []).append(guard)
    errors: dict[str, list[Diagnostic]] = {}
    for error in result.diagnostics:
        errors.setdefault(error.node, []).append(error)

    def step(current: str, computed: Sequence[Expr] = ()) -> Step:
        value, node = types[current], reasons.producer(current)
        fresh = [v for v in variables(value) if v not in reasons.inputs]
        operands = [] if node is None else [x for x in dict.fromkeys(node[2]) if x in types]
        labels = dict.fromkeys([current] if node is None else [label_of(node), current])
        said = [guard for label in labels for guard in guards.get(label, ())]
        wrong = [error for label in labels for error in errors.get(label, ())]
        reason = None if is_exact(value, reasons.inputs) else reasons.of(current)
        return Step(current, fresh, node, operands, said, wrong, reason, computed)

    if is_exact(types[name], reasons.inputs):
        first = step(name)
        origins = _origins(result, [name, *(first.operands if first.errors else ())])
        inner = sorted(origins.items(), key=lambda origin: not origin[1])  # the inputs come last
        return [
            first._replace(computed=origins.get(name, ())),
            *(step(*origin) for origin in inner if origin[0] != name),
        ]
    chain, seen, queue = [], {name}, deque([name])
    while queue:
        chain.append(last := step(queue.popleft()))
        before = [x for x in last.operands if x not in seen and _is_open(types[x], last.reason, reasons)]
        seen.update(before)
        queue.extend(before)
    return chain


def _origins(result: Inferred, names: Sequence[str]) -> dict[str, list[Expr]]:
    """The values back from some at whose nodes their sizes begin, each with these sizes; inputs have none.

    A size is followed through the operands that have it, among their sizes or elements. Where none has it, its node
    computes it, and its variables are followed.
    """
    types = result.types
    origins: dict[str, list[Expr]] = {}
    queue = deque((name, size) for name in names for size in _sizes_of(types[name]))
    seen = set(queue)
    while queue:
        current, size = queue.popleft()
        node = result._index.producer(current)
        operands = [] if node is None else [x for x in dict.fromkeys(node[2]) if x in types]
        having = next((x for x in operands if size in _sizes_of(types[x])), None)
        if having is not None:
            following = [(having, size)]
        else:
            inside = set(size.variables())
            following = [(x, s) for x in operands for s in _sizes_of(types[x]) if not inside.isdisjoint(s.variables())]
            begun = origins.setdefault(current, [])
            begun += [size] if node is not None else []
        new = [pair for pair in dict.fromkeys(following) if pair not in seen]
        seen.update(new)
        queue.extend(new)
    return origins


def _sizes_of(value: Value) -> list[Expr]:
    """The expressions among the sizes and elements of a tensor."""
    dims = (*(value.shape or ()), *(value.data or ()))
    return list(dict.fromkeys(size for size in dims if isinstance(size, Expr)))


def _is_open(operand: Value, reason: Reason | None, reasons: Reasons) -> bool:
    """Whether the reason may lie in an operand: it is not exact, or its node may have read unknown elements."""
    read = reason is None or reason.kind not in ("data", "value")
    return not is_exact(operand, reasons.inputs) or (read and lacks_elements(operand))


def explain(result: Inferred, name: str, width: int | None = WIDTH, write: Write = str) -> str:
    """The steps as text, wrapped at `width` characters (None: never). `write` makes the texts of sizes.

    Raises KeyError for a name that the main graph does not have.
    """
    lines = [line for step in steps(result, name) for line in _lines(result, step, width, write)]
    return "\n".join(part for line in lines for part in wrapped(printable(line), width))


def _lines(result: Inferred, step: Step, width: int | None, write: Write) -> list[str]:
    types = result.types

    def typed(name: str, indent: int) -> list[str]:
        return beside(f"{' ' * indent}{name}: ", types[name].spelled(write), width)

    lines = typed(step.value, 0)
    lines += [f"  {error.severity}: {line.strip()}" for error in step.errors for line in str(error).splitlines()[:1]]
    lines += [f"  {variable.name}: {origin_text(variable)}" for variable in step.fresh]
    if step.reason is not None and not _is_told(step, step.reason):
        lines.append(f"  unknown: {step.reason.text}")
    if step.node is None:
        lines.append("  given: a graph input or an initializer")
        return lines
    if step.computed and step.operands:
        lines.append(f"  computes {', '.join(map(write, step.computed))}")
    name = text(step.node[5].name or "")
    lines.append(f"  {title_of(step.node)} '{name}' of" if name else f"  {title_of(step.node)} of")
    lines += [line for operand in step.operands for line in typed(operand, 4)]
    lines += [f"  {guard.kind}: {guard.condition.spelled(write)} ({guard.law})" for guard in step.guards]
    return lines


def _is_told(step: Step, reason: Reason) -> bool:
    """Whether the errors of the step, or its fresh sizes, already say why it is unknown."""
    begins_here = step.node is not None and reason.node == label_of(step.node)
    return begins_here and bool(step.errors if reason.kind == "error" else reason.kind == "data" and step.fresh)


def origin_text(variable: Var) -> str:
    """Why the data decide a size, and its upper bound."""
    return f"{variable.origin}, at most {variable.at_most}" if variable.at_most is not None else str(variable.origin)
