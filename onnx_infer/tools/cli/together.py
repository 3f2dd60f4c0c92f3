"""Which options of the command go together. This file imports neither onnx nor the engine, so `--help` is quick."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

STANDARD = "-"
"""The path that stands for standard input, or output."""


def check_together(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse options that do not go together; SystemExit with code 2."""
    _check_models(parser, options)
    for name in ("bind", "bounds"):
        setattr(options, name, [pair for pairs in getattr(options, name) for pair in pairs])
    for name in ("bind", "bounds", "rename", "input_shape"):
        given = [symbol for symbol, _ in getattr(options, name)]
        if doubles := sorted({symbol for symbol in given if given.count(symbol) > 1}):
            parser.error(f"argument {_option(name)}: given twice: {', '.join(doubles)}")
    if options.in_place and (options.demo or options.model == STANDARD):
        parser.error("argument --in-place: there is no file to write to")
    for name, others, needed in _NEEDS:
        if getattr(options, name) and not any(getattr(options, other) for other in others):
            parser.error(f"argument {_option(name)}: needs {needed}")
    if options.dynamic and (options.html is not None or options.emit is not None):
        parser.error("argument --dynamic: write the model with -o, and ask for --html or --emit of that")
    if options.html == STANDARD == options.output:
        parser.error("argument --html: -o writes to standard output already")
    if options.fold and options.output is None and not options.in_place:
        parser.error("argument --fold: needs -o or --in-place")
    if options.fold and options.dynamic:
        parser.error("argument --fold: write the freed model with -o, and fold that")
    if (
        options.check
        and options.fold
        and (options.model in (None, STANDARD) or options.output in (None, STANDARD, options.model))
    ):
        parser.error("argument --check: needs a model in a file, and another file by -o")
    _check_forms(parser, options)


ARENA_OPTIONS = ("align", "order", "caller_owned", "at")
"""The options of an arena plan."""

_NEEDS = (
    *((name, ("dynamic",), "--dynamic") for name in ("apply", "unfinished")),
    ("copy_data", ("output", "in_place"), "-o or --in-place"),
    ("keep_guards", ("fold",), "--fold"),
    *((name, ("emit",), "--emit") for name in ("name", "no_names")),
    ("contract", ("output", "in_place"), "-o or --in-place"),
    *((name, ("arena", "annotate_arena"), "--arena or --annotate-arena") for name in ARENA_OPTIONS),
    ("annotate_arena", ("output", "in_place"), "-o or --in-place"),
)
"""Options that say something of another one: the option, those of which one is needed, and how they are called."""


_PLANS = ("costs", "memory", "max_memory", "arena", "fits")
_REPORTS = ("explain", "diff", "emit", "dynamic", "lint")
"""The options that print something in place of the table. Only those of `_PLANS` go together."""


def is_check(options: argparse.Namespace) -> bool:
    """Whether the call only judges sizes by the contract in a file."""
    return bool(options.check and not options.fold)


def _check_forms(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """One call prints one thing."""
    asked = [name for name in ("explain", "emit", "dialect", *_PLANS) if getattr(options, name) not in (None, False)]
    if options.quiet and asked and options.fits is None and options.max_memory is None:
        parser.error(f"argument --quiet: {_option(asked[0])} asks for a text")
    if options.format == "github" and (options.json or any(getattr(options, name) for name in _REPORTS) or asked):
        parser.error("argument --format: annotations are for one table or for many models")
    if options.emit is not None and (options.output is not None or options.in_place or options.json):
        parser.error(
            "argument --emit: prints to stdout, not with -o, --in-place or --json; redirect it: --emit c > FILE"
        )
    if options.no_names and options.emit == "js":
        parser.error("argument --no-names: only the tables of C can leave the names out")
    if options.dialect is not None and (options.json or options.emit is not None):
        parser.error("argument --dialect: --json and --emit have forms of their own")
    if is_check(options) and (options.output is not None or options.in_place or options.html is not None):
        parser.error("argument --check: writes no model and no page, except with --fold")
    if options.contract and options.dynamic:
        parser.error("argument --contract: write the freed model with -o, and then its contract")
    if options.lint and (options.output is not None or options.in_place or options.html is not None):
        parser.error("argument --lint: writes no model and no page")
    given = [name for name in (*_REPORTS, *_PLANS) if getattr(options, name) not in (None, [], False)]
    given = ["check", *given] if is_check(options) else given
    if options.emit is not None:
        given = [name for name in given if name != "arena"]  # the code has the plan
    if options.dynamic and not options.json:
        given = [name for name in given if name not in _PLANS]  # plans of the freed model follow its report
    if len(given) > 1 and given[0] in ("check", *_REPORTS):
        parser.error(
            f"argument {_option(given[0])}: not together with {_option(given[1])}, which prints something else"
        )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


_ONE_MODEL = (
    *("output", "in_place", "copy_data", "explain", "diff", "max_memory", "costs", "memory", "lint"),
    *("arena", *ARENA_OPTIONS, "fits", "annotate_arena", "check", "contract", "json", "full"),
    *(
        "bind",
        "input_shape",
        "rename",
        "dynamic",
        "html",
        "emit",
        "name",
        "no_names",
        "dialect",
        "fold",
        "apply",
        "keep_guards",
    ),
)
"""The options that say something of one model."""

_OF_FLEETS = ("json_lines", "jobs", "timeout", "max_worker_memory")
"""The options of which each makes a call one for many models, as a folder does."""


def _check_models(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Let `model` be the one model of the call, None for the demo or many models, which `is_fleet` tells."""
    of_fleets = any(getattr(options, name) is not None for name in _OF_FLEETS)
    options.is_fleet = of_fleets or len(options.models) > 1 or any(map(os.path.isdir, options.models))
    options.model = options.models[0] if options.models and not options.is_fleet else None
    if options.force and options.json_lines is None:
        parser.error("argument --force: needs --json-lines")
    if not options.is_fleet:
        if not (options.models or options.demo):
            parser.error("one of the arguments FILE --demo is required")
        return
    options.jobs, options.timeout = options.jobs or 1, options.timeout or 300
    if options.demo or STANDARD in options.models or not options.models:
        parser.error("argument FILE: many models are files and folders, not --demo or standard input")
    if options.json_lines == STANDARD:
        parser.error("argument --json-lines: needs a file, which a second start can read")
    for name in _ONE_MODEL:
        if getattr(options, name) not in (None, False, []):
            parser.error(f"argument {_option(name)}: is for one model, not for a folder or several models")
