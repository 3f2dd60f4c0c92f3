"""What a call shows instead of the table of values: plans, differences, code, a page, texts of other dialects."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import ArgumentError, OnnxInferError
from onnx_infer.tools.cli.arguments import WrongCall
from onnx_infer.tools.cli.together import STANDARD
from onnx_infer.tools.planning.samples import sample_sizes
from onnx_infer.tools.report.arena import ArenaReport
from onnx_infer.tools.report.layout import text_of
from onnx_infer.tools.report.plain_data import head_json
from onnx_infer.tools.report.plans import Plans, answer_json, fits_text, largest_text
from onnx_infer.tools.report.rows import Rows
from onnx_infer.tools.report.table import errors_again
from symdim import Expr, SymdimError, UnboundName
from symdim.dialects.texts import Dialect, text_in

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from onnx import ModelProto

    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.arena.largest import LargestSize
    from onnx_infer.tools.arena.plan import ArenaPlan
    from onnx_infer.tools.planning.fits import Fits


def plan(result: InferenceResult, options: Namespace, limit: int | None, width: int | None) -> tuple[str, bool]:
    """The report of the plans that are asked for, as text or JSON, and whether one does not fit or is not known."""
    plans = Plans(result) if options.costs or options.memory else None
    largest = None if options.max_memory is None else _largest(result, options.max_memory, not options.bind)
    fitting = None if options.fits is None else _fits(result, options.fits)
    fails = (fitting is not None and fitting.verdict != "proved") or (
        largest is not None and (largest.size is None or bool(largest.unknown))
    )
    answers: dict[str, tuple[Callable[[], Any], Callable[[], str]]] = {}
    if plans and options.costs:
        answers["costs"] = plans.costs_json, partial(plans.costs_text, limit, width)
    if plans and options.memory:
        answers["memory"] = plans.memory_json, partial(plans.memory_text, limit, width)
    if largest is not None:
        answers["largest_size"] = partial(answer_json, largest), partial(largest_text, largest, width)
    if fitting is not None:
        answers["fits"] = partial(answer_json, fitting), partial(fits_text, fitting, width)
    if options.arena:
        arena = arena_report(result, options)
        answers["arena"] = arena.json, partial(arena.text, limit, width)
    if options.json:
        names = "costs", "memory", "largest_size", "arena", "fits"
        plain = {name: answers[name][0]() if name in answers else None for name in names}
        return json.dumps({**head_json(), **plain}, indent=1), fails
    texts = [text() for _, text in answers.values()]
    if again := errors_again(Rows(result)):
        texts.append(text_of([[*again, "  the model fails at the sizes of the numbers above"]], width))
    return "\n\n".join(texts), fails


def _fits(result: InferenceResult, limit: int) -> Fits:
    try:
        return result.fits(limit)
    except SymdimError as error:
        raise WrongCall(f"--fits: {error}") from None


def _largest(result: InferenceResult, limit: int, is_as_read: bool) -> LargestSize:
    try:
        return result.largest_size(limit)
    except UnboundName as error:
        names = ", ".join(map(repr, error.names))
        raise WrongCall(f"--max-memory: several symbols are open: {names}; give all but one a size by --bind") from None
    except SymdimError as error:
        told = f"{error}; leave one symbol open"
        if is_as_read and not result.sources.symbols:
            from onnx_infer.tools.cli.dynamic import static_cure

            told = f"the model has no symbol: {static_cure(result, 'batch')}"
        raise WrongCall(f"--max-memory: {told}") from None


def arena_plan(result: InferenceResult, options: Namespace) -> ArenaPlan:
    """The plan that the options of `--arena` ask for."""
    callers = (options.caller_owned or "inputs").split(",")
    try:
        return result.arena(
            align=options.align or 64,
            inputs="caller" if "inputs" in callers else "arena",
            outputs="caller" if "outputs" in callers else "arena",
            order=options.order or "file",
            at=options.at or None,
        )
    except UnboundName as error:
        raise WrongCall(f"--at: {str(error).removeprefix('arena: at: ')}") from None
    except (OnnxInferError, SymdimError, TypeError) as error:
        raise WrongCall(f"--arena: {str(error).removeprefix('arena: ')}") from None


def annotated(model: ModelProto, result: InferenceResult, options: Namespace) -> None:
    """Write the plan of `--annotate-arena` into the model."""
    try:
        arena_plan(result, options).annotate(model)
    except ArgumentError as error:
        raise WrongCall(f"--annotate-arena: {str(error).removeprefix('annotate: ')}") from None


def arena_report(result: InferenceResult, options: Namespace) -> ArenaReport:
    """The report of `--arena`, at the sizes of `--at` or at several magnitudes."""
    plan = arena_plan(result, options)
    samples = sample_sizes(result, plan.symbols)
    given = options.at or [{v.name: size for v, size in sizes.items()} for sizes in samples]
    try:
        return ArenaReport(plan, given, is_given=bool(options.at))
    except (ArgumentError, ZeroDivisionError) as error:
        raise WrongCall(f"--at: {str(error).removeprefix('arena: ')}") from None


def difference(
    first: InferenceResult, second: InferenceResult, options: Namespace, limit: int | None, width: int | None
) -> tuple[str, bool]:
    """The report of the differences, as text or JSON, and whether there are any."""
    from onnx_infer.tools.comparison.report import differences_json, differences_text

    paths = [None if path == STANDARD else path for path in (options.model, options.diff)]
    comparison = first.compare(second, (paths[0], paths[1]))
    if options.json:
        return json.dumps(differences_json(comparison), indent=1), not comparison.is_equal
    return differences_text(comparison, limit, width), not comparison.is_equal


def emitted(result: InferenceResult, options: Namespace) -> str:
    """The code of `--emit`, with the plan of `--arena`. In C the names begin with that of the file."""
    plan = arena_plan(result, options) if options.arena else False
    name = options.name or name_of(options.model or "")
    return result.emit(options.emit, name=name, arena=plan, names=not options.no_names)


def page(result: InferenceResult, path: str | None) -> str:
    """The page of `--html`."""
    return result.html("onnx-infer --demo" if path is None else "standard input" if path == "-" else Path(path).name)


def name_of(path: str) -> str:
    """A name for what is made of a file.

    >>> name_of("models/decoder v2.onnx"), name_of("-"), name_of("2.onnx")
    ('decoder_v2', 'model', 'model_2')
    """
    stem = re.sub(r"\W", "_", Path(path).stem, flags=re.ASCII).strip("_") or "model"
    return stem if not stem[0].isdigit() else f"model_{stem}"


def spelling(dialect: Dialect) -> Callable[[object], str]:
    """What makes the texts of sizes and elements with `--dialect`."""
    return lambda size: text_in(size, dialect) if isinstance(size, Expr) else str(size)
