"""What must hold of the inference of a model. A judge gives the text of each fault that it finds.

Nothing else is known of a run that onnxruntime refuses. Sizes are claimed only for runs in which no guard fails.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

import onnx_infer
from onnx_infer import SymTensor, materialize
from onnx_infer.operators.registration import registry
from onnx_infer.protobuf.specialize import specialize
from onnx_infer.tools.transforms.draft import count_nodes
from symdim import DivisionByZero, Expr, UnboundName
from symdim.algebra.dims import variables_of
from symdim.errors import UnsupportedDynamicShape
from tests.fuzz.disputes import LENIENT, ON_PURPOSE, OWN_LIMITS, UNWRITTEN
from tests.fuzz.growing import captured, value_info
from tests.onnx_infer.oracle import at, contradictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer import Dim, InferenceResult
    from tests.fuzz.runtime import Outcome, Runtime
    from tests.fuzz.subject import Run, Subject

MOST_SIZES = 6
"""The most sizes of a model that are computed by nodes and compared."""


def runs(subject: Subject, _: Runtime) -> Iterator[str]:
    """Every claim holds in every run: element types, ranks, sizes, elements; one fresh size has one value."""
    yield from _against_runs(subject, subject.result)


def _against_runs(subject: Subject, result: InferenceResult) -> Iterator[str]:
    for run in subject.runs:
        if not run.succeeded or subject.failing(run, result):
            continue
        seen: dict[Expr, int] = {}
        for name, actual in subject.outputs(run).items():
            value = result.types.get(name)
            for text in contradictions(value, actual, run.sizes):
                yield f"{name}: {value} at {run.sizes}: {text}"
            if isinstance(value, SymTensor) and isinstance(actual, np.ndarray):
                for dim, size in zip(value.shape or (), actual.shape, strict=False):
                    fresh = isinstance(dim, Expr) and not isinstance(at(dim, run.sizes), int)
                    if fresh and seen.setdefault(dim, size) != size:
                        yield f"{name}: {value} at {run.sizes}: {dim} is {seen[dim]} and {size}"


def guards(subject: Subject, _: Runtime) -> Iterator[str]:
    """No required guard fails in a run that succeeds."""
    for run in subject.runs:
        if run.succeeded:
            for violation in subject.failing(run):
                if violation.guard.kind == "required" and not violation.guard.conditional:
                    yield f"the guard {violation.guard} of {violation.guard.origins} fails at {run.sizes}"


def errors(subject: Subject, _: Runtime) -> Iterator[str]:
    """A model that runs at sizes that its guards and its author allow has no errors, and no rule fails."""
    some_run = any(r.succeeded and not (subject.is_misdeclared(r, r.sizes) or subject.failing(r)) for r in subject.runs)
    for diagnostic in subject.result.diagnostics:
        if diagnostic.severity == "defect" or (some_run and diagnostic.severity == "error"):
            yield str(diagnostic)


def concrete(subject: Subject, _: Runtime) -> Iterator[str]:
    """The model at given sizes has the types of the model at these sizes, and knows at least as much of them."""
    for run in subject.runs[::2]:
        if not run.succeeded or subject.failing(run):
            continue
        known = {v.name for v in subject.result.sources.symbols}
        sizes = {name: size for name, size in run.sizes.items() if name in known}
        result = subject.infer(specialize(subject.model, sizes) if sizes else subject.model)
        yield from _less(subject.result, result, run, "the model at given sizes")


def _less(first: InferenceResult, second: InferenceResult, run: Run, what: str) -> Iterator[str]:
    """Where the second result contradicts the first one, or knows less, at the sizes of a run."""
    for name, shape in first.shapes.items():
        other = second.shapes.get(name)
        if other is None or len(other) != len(shape):
            yield f"{name}: {shape}, but {what}: {other}"
            continue
        for dim, other_dim in zip(shape, other, strict=True):
            size, other_size = at(dim, run.sizes), at(other_dim, run.sizes)
            if isinstance(size, int) and size != other_size:
                yield f"{name}: {shape} at {run.sizes}, but {what}: {other}"
                break


def renamed(subject: Subject, _: Runtime) -> Iterator[str]:
    """Names of symbols change nothing but names."""
    names = sorted(v.name for v in subject.result.sources.symbols if v.name.isidentifier())
    if not names:
        return
    others = {name: f"z{len(names) - k}" for k, name in enumerate(names)}
    copy = onnx.ModelProto.FromString(subject.model.SerializeToString())
    result = subject.infer(onnx_infer.rename_symbols(copy, others))
    for run in subject.runs[::2]:
        sizes = subject.sizes(run, result) | {others.get(name, name): size for name, size in run.sizes.items()}
        for name, shape in subject.result.shapes.items():
            expected = [_size(d, run.sizes) for d in shape]
            if expected != [_size(d, sizes) for d in result.shapes.get(name, ())]:
                yield f"{name}: {shape}, but {result.shapes.get(name)} with the symbols {others}"


def _size(dim: Dim, sizes: dict[str, int]) -> int | None:
    """The size; None if the sizes of the symbols do not decide it, or if it divides by 0, as in runs that fail."""
    with suppress(DivisionByZero):
        if isinstance(size := at(dim, sizes), int):
            return size
    return None


def idempotent(subject: Subject, _: Runtime) -> Iterator[str]:
    """A second inference writes the same bytes, forwards and in both directions."""
    for way in (False, True):
        once = onnx_infer.infer_shapes(subject.model, bidirectional=way, **subject.options)
        twice = onnx_infer.infer_shapes(once, bidirectional=way, **subject.options)
        if once.SerializeToString(deterministic=True) != twice.SerializeToString(deterministic=True):
            lines = zip(str(once).splitlines(), str(twice).splitlines(), strict=False)
            changed = [f"{first.strip()} -> {second.strip()}" for first, second in lines if first != second]
            yield f"a second inference {'in both directions ' if way else ''}changes {'; '.join(changed[:3])}"


def front_ends(subject: Subject, _: Runtime) -> Iterator[str]:
    """An `onnx_ir.Model` gives the types that a ModelProto gives."""
    import onnx_ir as ir

    from onnx_infer.integrations import onnx_ir

    result = onnx_ir.infer(ir.from_proto(subject.model), **subject.options)
    for name, value in subject.result.types.items():
        if str(value) != str(result.types.get(name)):
            yield f"{name}: {value}, but of an onnx_ir.Model {result.types.get(name)}"


def bidirectional(subject: Subject, _: Runtime) -> Iterator[str]:
    """Inference in both directions is right in every run and knows at least as much."""
    result = subject.infer(subject.model, bidirectional=True)
    runs = [run for run in subject.runs if run.succeeded]
    yield from _against_runs(subject, result)
    for run in runs[::2]:
        if not subject.failing(run) and not subject.failing(run, result):
            yield from _less(subject.result, result, run, "in both directions")


def upper_bounds(subject: Subject, _: Runtime) -> Iterator[str]:
    """No size is above its upper bound."""
    for run in subject.runs:
        if run.succeeded and not subject.failing(run):
            outputs = subject.outputs(run)
            for name, shape in subject.result.upper_bounds.items():
                actual = outputs.get(name)
                for dim, size in zip(shape, getattr(actual, "shape", ()), strict=False):
                    most = at(dim, run.sizes)
                    if isinstance(most, int) and size > most:
                        yield f"{name}: at most {shape} at {run.sizes}, but {getattr(actual, 'shape', None)}"


def planned(subject: Subject, _: Runtime) -> Iterator[str]:
    """The compiled sizes are those of the runs, and the peak of memory is not below the largest value."""
    try:
        planner = subject.result.planner()
    except UnboundName:
        return
    memory = subject.result.memory()
    for run in subject.runs:
        if run.succeeded and not subject.failing(run):
            sizes = {v.name: run.sizes[v.name] for v in planner.args}
            plan = planner(**sizes)
            named = {v.name for v in memory.symbols}
            own = {name: size for name, size in run.sizes.items() if name in named}
            counted = [memory.peak_at(own).bytes] if named <= own.keys() else []
            for name, actual in subject.outputs(run).items():
                claimed = plan.shapes.get(name)
                if claimed is not None and isinstance(actual, np.ndarray) and tuple(claimed) != actual.shape:
                    yield f"{name}: planned as {claimed} at {run.sizes}, but {actual.shape}"
                if name in memory.sizes and any(peak < (plan.bytes.get(name) or 0) for peak in counted):
                    yield f"{name}: {plan.bytes[name]} bytes at {run.sizes}, but the peak is {counted[0]}"


def materialized(subject: Subject, runtime: Runtime) -> Iterator[str]:
    """Nodes that compute sizes give the sizes."""
    result = subject.result
    symbols = result.sources.symbols
    dims = sorted({d for s in result.shapes.values() for d in s if isinstance(d, Expr)}, key=str)
    wanted = [d for d in dims if symbols.issuperset(variables_of([d]))][:MOST_SIZES]
    if not wanted:
        return
    try:
        made = materialize(wanted, result)
    except (UnsupportedDynamicShape, ValueError):
        return
    model = onnx.ModelProto.FromString(subject.model.SerializeToString())
    model.graph.value_info.extend(model.graph.output)  # onnxruntime needs a declared rank where its own one is wrong
    del model.graph.output[:]
    output = made.insert(model)
    model.graph.output.append(value_info(output, np.zeros(len(wanted), np.int64)))
    good = [run for run in subject.runs if run.succeeded and not subject.failing(run)]
    for run, outcome in zip(good, runtime.run(model.SerializeToString(), [run.feeds for run in good]), strict=True):
        expected = [at(d, run.sizes) for d in wanted]
        if isinstance(outcome, str) and not any(limit in outcome for limit in OWN_LIMITS):
            yield f"nodes that compute {wanted} are refused: {outcome}"
        elif not isinstance(outcome, str) and outcome[0].tolist() != expected:
            yield f"nodes that compute {wanted} at {run.sizes} give {outcome[0].tolist()}, not {expected}"


@cache
def _random_operators() -> list[str]:
    """The operators of which two equal nodes may have different results."""
    rules = (rule for domain, name, _ in registry.supported() for rule in registry.versions(domain, name))
    return [rule.name for rule in rules if rule.traits.random]


def folded(subject: Subject, runtime: Runtime) -> Iterator[str]:
    """The folded model has no more nodes, gives the same outputs bit for bit, and is refused where the model is.

    Not compared are outputs that the model itself does not repeat, and those of random and `UNWRITTEN` nodes.
    """
    content = subject.model.SerializeToString()
    is_random = any(name.encode() in content for name in (*_random_operators(), *UNWRITTEN))
    model = onnx_infer.fold(subject.model)
    if count_nodes(model) > count_nodes(subject.model):
        yield f"fold makes {count_nodes(model)} nodes of {count_nodes(subject.model)}"
    outcomes = runtime.run(model.SerializeToString(), [run.feeds for run in subject.runs])
    for run, outcome in zip(subject.runs, outcomes, strict=True):
        if any(text in f"{outcome} {run.outcome}" for text in OWN_LIMITS) or subject.lost_branches(run, model):
            continue
        if isinstance(outcome, str) or not run.succeeded:
            if not isinstance(outcome, str) or run.succeeded:
                yield f"folded at {run.sizes}: {_shown(outcome)}, but the model: {_shown(run.outcome)}"
        elif not is_random and list(map(_bits, outcome)) != list(map(_bits, run.outcome)):
            (again,) = runtime.run(content, [run.feeds])
            repeated = zip(run.outcome, outcome, [] if isinstance(again, str) else again, strict=False)
            if any(_bits(x) == _bits(z) != _bits(y) for x, y, z in repeated):
                yield f"folded at {run.sizes}: other outputs"


def _shown(outcome: Outcome) -> str:
    return outcome if isinstance(outcome, str) else "runs"


def _bits(value: Any) -> Any:
    """What equal outputs have in common."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    return [_bits(x) for x in value] if isinstance(value, list) else value


def known_by_onnx(subject: Subject, _: Runtime) -> Iterator[str]:
    """onnx's own inference of the model at given sizes knows nothing more."""
    run = next((run for run in subject.runs if run.succeeded and not subject.failing(run)), None)
    if run is None:
        return
    known = {v.name for v in subject.result.sources.symbols}
    sizes = {name: size for name, size in run.sizes.items() if name in known}
    model = specialize(subject.model, sizes) if sizes else subject.model
    try:
        theirs = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return
    ours = subject.infer(model, initializers="constant")  # onnx takes them as constants, inputs or not
    outputs, disputed = subject.outputs(run), _disputed(ours, model)
    for info in (*theirs.graph.value_info, *theirs.graph.output):
        tensor = info.type.tensor_type
        if info.name in disputed or not info.type.HasField("tensor_type") or not tensor.HasField("shape"):
            continue
        dims: list[Any] = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
        actual = getattr(outputs.get(info.name), "shape", None)
        unlike = actual is None or len(dims) != len(actual)
        if unlike or any(d not in (None, n) for d, n in zip(dims, actual, strict=True)):
            continue  # onnx is wrong there
        shape = ours.shapes.get(info.name)
        if shape is None or any(
            isinstance(n, int) and not isinstance(d, int) for d, n in zip(shape, dims, strict=True)
        ):
            yield f"{info.name}: {shape}, but onnx knows {dims} at {sizes}"


def _disputed(result: InferenceResult, model: onnx.ModelProto) -> set[str]:
    """The values that are unknown because runtimes disagree, and all that is computed from them."""
    texts = {name: " ".join([reason.text for reason in reasons]) for name, reasons in result.reasons.items()}
    found = {name for name, text in texts.items() if any(on_purpose in text for on_purpose in ON_PURPOSE)}
    for node in model.graph.node:
        if not found.isdisjoint(captured([node])):
            found.update(node.output)
    return found


JUDGES = (runs, guards, errors, concrete, renamed, idempotent, front_ends, bidirectional, upper_bounds, planned,
          materialized, folded, known_by_onnx)  # fmt: skip


def verdict(subject: Subject, runtime: Runtime, only: str = "") -> list[tuple[str, str]]:
    """The judges that find a fault, each with its first text: all, or one. An exception is a fault, too."""
    found: list[tuple[str, str]] = []
    if _is_lenient(subject):
        return found
    for judge in [judge for judge in JUDGES if only in ("", judge.__name__)]:
        try:
            text = next(judge(subject, runtime), None)
        except Exception as error:  # an exception of inference is a fault, too
            text = f"{type(error).__name__}: {error}"
        if text is not None:
            found.append((judge.__name__, text))
    return found


def _is_lenient(subject: Subject) -> bool:
    """Whether onnxruntime runs the model although the specification forbids it."""
    try:
        texts = [str(diagnostic) for diagnostic in subject.result.diagnostics]
    except Exception:  # a judge reports it
        return False
    return any(re.match(pattern, text) for pattern in LENIENT for text in texts)
