"""One call of the command: read, infer, write, show."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onnx import ModelProto

from onnx_infer.api import infer, rename_symbols
from onnx_infer.errors import ArgumentError, InputValueError, ShapeInferenceError, UnknownSymbol
from onnx_infer.protobuf.files import same_path
from onnx_infer.protobuf.specialize import specialize, with_input_shapes
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, WrongCall, inference_options
from onnx_infer.tools.cli.files import check_target, demo_model, read, write, write_text
from onnx_infer.tools.cli.terminal import annotation, progress, show, width
from onnx_infer.tools.cli.together import STANDARD
from onnx_infer.tools.report.layout import WIDTH
from onnx_infer.tools.report.rows import Rows
from onnx_infer.tools.report.table import count_of, table
from symdim import BoundsError, ParseError, SymdimError, UnboundName
from symdim.errors import nearest, printable

if TYPE_CHECKING:
    from argparse import Namespace

    from onnx_infer.result import InferenceResult

_MOST_ROWS = 40


def run(options: Namespace) -> int:
    """Execute the call; returns the exit code. Raises WrongCall."""
    if options.is_fleet:
        from onnx_infer.tools.cli import fleet

        return fleet.run(options)
    target = options.model if options.in_place else options.output
    for path, others in ((target, (options.diff,)), (options.html, (options.model, options.diff, target))):
        if path is not None:
            check_target(path, *others)
    _import(options.modules)
    with progress(f"inferring {options.model or 'the demo'}", sys.stderr):
        options.later = _later(options)
        model = _model(options, options.model)
        if options.dynamic:
            return _free(model, options, target)
        if options.lint:
            return _lint(model, options)
        try:
            result = _infer(model, options)
        except ShapeInferenceError as error:
            show(_error(str(error), options), sys.stderr)
            return MODEL_ERRORS
        if options.explain is not None and options.explain not in result.types:
            meant = nearest(options.explain, result.types)
            told = f"; it has {meant!r}" if meant else ""
            raise WrongCall(f"--explain: the main graph has no value {options.explain!r}{told}")
        text, differs = _report(result, options)
        if target is not None and options.fold:
            lines, is_equal = _fold(model, result, options, target)
            text += "" if options.json else "\n".join(["", "", *lines])
            differs |= not is_equal
        elif target is not None:
            write(_applied(result, model, options), options.model, target, options.copy_data)
        if options.html is not None:
            from onnx_infer.tools.cli.reports import page

            write_text(page(result, options.model), options.html, model, options.model)
    failures = _failures(result, options.fail_on)
    errors = [str(d) for d in result.diagnostics if d.severity != "warning"] if options.diff is None else []
    is_well = not (differs or failures or errors)
    if options.format == "github":
        parts = ["\n".join([*(_error(what, options) for what in (*errors, *failures)), count_of(Rows(result).counts)])]
    else:
        is_short = options.quiet and not differs and not options.json
        parts = ["\n".join(errors) if is_short else text, *([] if options.json else failures)]
    return _end("\n\n".join(filter(None, parts)), options, target, is_well)


def _error(told: str, options: Namespace) -> str:
    """An error as a line, or as an annotation."""
    return annotation(options.model or "demo", "error", told) if options.format == "github" else f"error: {told}"


def _fold(model: ModelProto, result: InferenceResult, options: Namespace, target: str) -> tuple[list[str], bool]:
    """Write the smaller model; the lines that say so, and whether it computes the same as far as `--check` looks."""
    from onnx_infer.tools.cli.folding import check, folded

    smaller, lines = folded(model, options, _limits(options)[0])
    if options.annotate_arena:
        smaller = _applied(_infer(smaller, options), smaller, options)
    write(smaller, options.model, target, options.copy_data)
    if not options.check:
        return lines, True
    told, is_equal = check(options.model, target, result)
    return [*lines, "", told], is_equal


def _applied(result: InferenceResult, model: ModelProto, options: Namespace) -> ModelProto:
    """The model with what was inferred, and with the plan of `--annotate-arena`."""
    result.apply(model, contract=options.contract)
    if options.annotate_arena:
        from onnx_infer.tools.cli.reports import annotated

        annotated(model, result, options)
    return model


def _failures(result: InferenceResult, fail_on: list[str]) -> list[str]:
    """What `--fail-on` finds, a line for each kind."""
    lines = []
    if "unknown" in fail_on:
        counts = Rows(result).counts
        if unknown := counts["values"] - counts["exact"]:
            lines.append(f"error (--fail-on unknown): {unknown} of {counts['values']} values are not exact")
    if "guards" in fail_on and result.guards:
        others = f" and {len(result.guards) - 1} more" if len(result.guards) > 1 else ""
        lines.append(f"error (--fail-on guards): the model requires {result.guards[0]}{others}")
    return lines


def _end(text: str, options: Namespace, target: str | None, is_well: bool) -> int:
    """Show the result of the call, with --quiet only if not all is well; returns the exit code."""
    if not (options.quiet and is_well):
        _show(text, options, target)
    return OK if is_well else MODEL_ERRORS


def _show(text: str, options: Namespace, target: str | None) -> None:
    written = [path for path in (target, options.html) if path not in (None, STANDARD)]
    if (
        options.output not in (None, STANDARD)
        and options.model is not None
        and same_path(options.output, options.model)
    ):
        written[0] += " (the model that was read)"
    if written and not options.json and options.emit is None and not options.quiet:
        text += f"\n\nwritten: {printable(', '.join(written))}"
    show(text, sys.stderr if STANDARD in (target, options.html) else sys.stdout)


def _free(model: ModelProto, options: Namespace, target: str | None) -> int:
    """A call with `--dynamic`."""
    from onnx_infer.tools.cli.dynamic import freed, is_done, report

    made = freed(model, options)
    done = is_done(made)
    writes = target is not None and (done or options.unfinished)
    if target is not None and writes:
        if options.annotate_arena:
            _applied(made.result, made.model, options)
        write(made.model, options.model, target, options.copy_data)
    text = report(made, options, *_limits(options))
    if _has_plans(options):
        from onnx_infer.tools.cli.reports import plan

        result = made.result if not options.later else _infer(_changed(made.model, "bind", options.later), options)
        planned, is_short = plan(result, options, *_limits(options))
        text, done = f"{text}\n\n{planned}", done and not is_short
    if target is None or writes:
        return _end(text, options, target, done)
    show(text, sys.stderr if target == STANDARD else sys.stdout)
    show(f"not written: {target}: the model is not yet dynamic; use --unfinished to write it anyway", sys.stderr)
    return MODEL_ERRORS


def _lint(model: ModelProto, options: Namespace) -> int:
    """A call with `--lint`."""
    from onnx_infer.protobuf.lint import NOTHING_FOUND, lint
    from onnx_infer.tools.report.plain_data import head_json

    path = None if options.model in (None, STANDARD) else options.model
    is_changed = any(getattr(options, option) for option in _CHANGES)
    findings = lint(model if path is None or is_changed else path, path)
    if options.json:
        fields = [{**f._asdict(), "problem": f.problem, "cure": f.cure} for f in findings]
        text = json.dumps({**head_json(), "findings": fields, "unseen": findings.unseen}, indent=1)
    else:
        lines = [*map(str, findings), *(f"not checked: {what}" for what in findings.unseen)]
        text = "\n".join(lines) or NOTHING_FOUND
    return _end(text, options, None, not (findings or findings.unseen))


def _has_plans(options: Namespace) -> bool:
    asked = options.costs, options.memory, options.arena
    return any(asked) or options.max_memory is not None or options.fits is not None


def _later(options: Namespace) -> dict[str, Any]:
    """The sizes of symbols that `--dynamic` makes: they are fixed afterwards, for the plans."""
    made = {symbol for _, _, symbol in options.dynamic}
    later = {name: size for name, size in options.bind if name in made}
    if later and not _has_plans(options):
        raise WrongCall(
            f"--bind: {next(iter(later))!r} is what --dynamic makes; --memory, --costs or --max-memory use it"
        )
    options.bind = [(name, size) for name, size in options.bind if name not in later]
    return later


def _limits(options: Namespace) -> tuple[int | None, int | None]:
    """The most lines of a kind, and the width."""
    return None if options.all else _MOST_ROWS, None if options.full else width(WIDTH)


def _import(modules: list[str]) -> None:
    """Import modules that register rules, also from the current folder."""
    if modules and "" not in sys.path:
        sys.path.insert(0, "")
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:  # the module may raise anything
            raise WrongCall(f"--import {name}: {type(error).__name__}: {error}") from error


def _model(options: Namespace, path: str | None) -> ModelProto:
    """The model of a file (None: the demo) with the symbols of `--rename` renamed and those of `--bind` fixed."""
    model = demo_model() if path is None else read(path)
    for option in _CHANGES:
        if given := dict(getattr(options, option)):
            model = _changed(model, option, given)
    return model


_CHANGES: dict[str, Callable[[ModelProto, Any], ModelProto]] = {
    "rename": rename_symbols,
    "bind": specialize,
    "input_shape": with_input_shapes,
}
"""The options that change the model before all else, in this order."""


def _changed(model: ModelProto, option: str, given: dict[str, Any]) -> ModelProto:
    try:
        return _CHANGES[option](model, given)
    except UnboundName as error:
        from onnx_infer.tools.cli.dynamic import static_cure

        result = infer(model)
        symbols = [v.name for v in result._input_symbols]
        cure = "" if symbols else f": {static_cure(result, error.names[0])}"
        raise WrongCall(f"--{UnknownSymbol(option, error.names, symbols)}{cure}") from None
    except (ArgumentError, InputValueError, SymdimError) as error:
        told = str(error).replace("input_shapes: ", "")
        raise WrongCall(f"--{option.replace('_', '-')}: {told}") from None


def _infer(model: ModelProto, options: Namespace) -> InferenceResult:
    try:
        return infer(model, **inference_options(options))
    except InputValueError as error:
        told = str(error)
        raise WrongCall(f"--{'value' + told[6:] if told.startswith('values:') else told}") from None
    except UnknownSymbol as error:  # its text starts with the option
        raise WrongCall(f"--{error}") from None
    except ParseError as error:
        raise WrongCall(f"--assume: {error}") from None
    except BoundsError as error:
        raise WrongCall(f"--bounds: {error}") from None


def _report(result: InferenceResult, options: Namespace) -> tuple[str, bool]:
    """What is shown, and whether the model differs from that of `--diff`, or does not fit as far as it is known."""
    limit, columns = _limits(options)
    if _has_plans(options) and options.emit is None:
        from onnx_infer.tools.cli.reports import plan

        return plan(result, options, limit, columns)
    if options.diff is not None:
        from onnx_infer.tools.cli.reports import difference

        return difference(result, _infer(_model(options, options.diff), options), options, limit, columns)
    if options.emit is not None:
        from onnx_infer.tools.cli.reports import emitted

        return emitted(result, options), False
    if options.json:
        from onnx_infer.tools.report.plain_data import as_json, explanation_json

        data: dict[str, Any] = as_json(result) if options.explain is None else explanation_json(result, options.explain)
        return json.dumps(data, indent=1), False
    write: Callable[[object], str] = str
    if options.dialect is not None:
        from onnx_infer.tools.cli.reports import spelling

        write = spelling(options.dialect)
    if options.explain is not None:
        from onnx_infer.tools.report.explanation import explain

        return explain(result, options.explain, columns, write), False
    return table(result, limit, columns, write), False
