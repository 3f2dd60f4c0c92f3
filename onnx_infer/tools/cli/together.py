"""Which options of the command go together. This file imports neither onnx nor the engine, so `--help` is quick."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

STANDARD = "-"
"""The path that stands for standard input, or output."""


def check_together(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse options that do not go together; SystemExit with code 2."""
    for name, told in _wrong(options):
        parser.error(f"argument {name if name.isupper() else _option(name)}: {told}" if name else told)


def _wrong(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """What is wrong with a call, each with the option that it is told of. The first one ends the call."""
    yield from _wrong_models(options)
    for name in ("bind", "bounds"):
        setattr(options, name, [pair for pairs in getattr(options, name) for pair in pairs])
    for name in ("bind", "bounds", "rename", "input_shape"):
        given = [symbol for symbol, _ in getattr(options, name)]
        if doubles := sorted({symbol for symbol in given if given.count(symbol) > 1}):
            yield name, f"given twice: {', '.join(doubles)}"
    if options.in_place and (options.demo or options.model == STANDARD):
        yield "in_place", "there is no file to write to"
    for name, others, needed in _NEEDS:
        if getattr(options, name) and not any(getattr(options, other) for other in others):
            yield name, f"needs {needed}"
    is_written = options.output is not None or options.in_place
    if options.dynamic and (options.html is not None or options.emit is not None):
        yield "dynamic", "write the model with -o, and ask for --html or --emit of that"
    if options.html == STANDARD == options.output:
        yield "html", "-o writes to standard output already"
    if options.fold and not is_written:
        yield "fold", "needs -o or --in-place"
    if options.fold and options.dynamic:
        yield "fold", "write the freed model with -o, and fold that"
    no_files = options.model in (None, STANDARD) or options.output in (None, STANDARD, options.model)
    if options.check and options.fold and no_files:
        yield "check", "needs a model in a file, and another file by -o"
    yield from _wrong_forms(options, is_written)


ARENA_OPTIONS = ("align", "order", "caller_owned", "at")
"""The options of an arena plan."""

_TARGETS = ("output", "in_place"), "-o or --in-place"

_NEEDS = (
    *((name, ("dynamic",), "--dynamic") for name in ("apply", "unfinished")),
    ("copy_data", *_TARGETS),
    ("keep_guards", ("fold",), "--fold"),
    *((name, ("emit",), "--emit") for name in ("name", "no_names")),
    ("contract", *_TARGETS),
    *((name, ("arena", "annotate_arena"), "--arena or --annotate-arena") for name in ARENA_OPTIONS),
    ("annotate_arena", *_TARGETS),
)
"""Options that say something of another one: the option, those of which one is needed, and how they are called."""


_PLANS = ("costs", "memory", "max_memory", "arena", "fits")
_REPORTS = ("explain", "diff", "emit", "dynamic", "lint")
"""The options that print something in place of the table. Only those of `_PLANS` go together."""


def is_check(options: argparse.Namespace) -> bool:
    """Whether the call only judges sizes by the contract in a file."""
    return bool(options.check and not options.fold)


def _wrong_forms(options: argparse.Namespace, is_written: bool) -> Iterator[tuple[str, str]]:
    """One call prints one thing."""
    asked = [name for name in ("explain", "emit", "dialect", *_PLANS) if _is_given(options, name)]
    if options.quiet and asked and options.fits is None and options.max_memory is None:
        yield "quiet", f"{_option(asked[0])} asks for a text"
    if options.format == "github" and (options.json or any(getattr(options, name) for name in _REPORTS) or asked):
        yield "format", "annotations are for one table or for many models"
    if options.emit is not None and (is_written or options.json):
        yield "emit", "prints to stdout, not with -o, --in-place or --json; redirect it: --emit c > FILE"
    if options.no_names and options.emit == "js":
        yield "no_names", "only the tables of C can leave the names out"
    if options.dialect is not None and (options.json or options.emit is not None):
        yield "dialect", "--json and --emit have forms of their own"
    if is_check(options) and (is_written or options.html is not None):
        yield "check", "writes no model and no page, except with --fold"
    if options.contract and options.dynamic:
        yield "contract", "write the freed model with -o, and then its contract"
    if options.lint and (is_written or options.html is not None):
        yield "lint", "writes no model and no page"
    given = [name for name in (*_REPORTS, *_PLANS) if _is_given(options, name)]
    given = ["check", *given] if is_check(options) else given
    if options.emit is not None:
        given = [name for name in given if name != "arena"]  # the code has the plan
    if options.dynamic and not options.json:
        given = [name for name in given if name not in _PLANS]  # plans of the freed model follow its report
    if len(given) > 1 and given[0] in ("check", *_REPORTS):
        yield given[0], f"not together with {_option(given[1])}, which prints something else"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _is_given(options: argparse.Namespace, name: str) -> bool:
    return getattr(options, name) not in (None, False, [])


_ONE_MODEL = (
    *("output", "in_place", "copy_data", "explain", "diff", "max_memory", "costs", "memory", "lint"),
    *("arena", *ARENA_OPTIONS, "fits", "annotate_arena", "check", "contract", "json", "full"),
    *("bind", "input_shape", "rename", "dynamic", "html", "emit", "name", "no_names", "dialect"),
    *("fold", "apply", "keep_guards"),
)
"""The options that say something of one model."""

_OF_FLEETS = ("json_lines", "jobs", "timeout", "max_worker_memory")
"""The options of which each makes a call one for many models, as a folder does."""


def _wrong_models(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Let `model` be the one model of the call, None for the demo or many models, which `is_fleet` tells."""
    of_fleets = any(getattr(options, name) is not None for name in _OF_FLEETS)
    options.is_fleet = of_fleets or len(options.models) > 1 or any(map(os.path.isdir, options.models))
    options.model = options.models[0] if options.models and not options.is_fleet else None
    if options.force and options.json_lines is None:
        yield "force", "needs --json-lines"
    if not options.is_fleet:
        if not (options.models or options.demo):
            yield "", "one of the arguments FILE --demo is required"
        return
    options.jobs, options.timeout = options.jobs or 1, options.timeout or 300
    if options.demo or STANDARD in options.models or not options.models:
        yield "FILE", "many models are files and folders, not --demo or standard input"
    if options.json_lines == STANDARD:
        yield "json_lines", "needs a file, which a second start can read"
    for name in _ONE_MODEL:
        if _is_given(options, name):
            yield name, "is for one model, not for a folder or several models"
