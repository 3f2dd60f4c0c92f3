"""The options of the command line. This file imports neither onnx nor the engine, so `--help` is quick."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from onnx_infer.tools.cli.texts import (
    bindings,
    byte_count,
    freed_axis,
    identifier,
    input_shape,
    input_value,
    intervals,
    positive,
    renaming,
    sizes,
)
from onnx_infer.tools.cli.together import check_together
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLICIES = ("skip", "override", "refine", "strict")
"""The policies of `onnx_infer.types.merge`; a test compares them."""

FILE_KINDS = ("c", "h", "js")
"""The kinds of `onnx_infer.tools.emission.code`; a test compares them."""

DIALECTS = ("jax", "torch", "sympy")
"""The dialects of `symdim.dialects.texts`; a test compares them."""

OK, MODEL_ERRORS, USAGE, INTERRUPTED = 0, 1, 2, 130
"""The exit codes; `_EPILOG` explains them."""

_EPILOG = """\
FILE is a path, or - for standard input. With -o - the model goes to standard
output, and all else to standard error.

examples:
  onnx-infer model.onnx                            all shapes, errors first
  onnx-infer model.onnx --explain scores           where one shape comes from
  onnx-infer model.onnx -o typed.onnx              the model with all shapes
  onnx-infer model.onnx --memory --bind batch=8    memory at batch 8
  onnx-infer model.onnx --dynamic images:0=batch --apply -o out.onnx
  onnx-infer models/ --jobs 4 --quiet --fail-on unknown

exit codes:
  0    no problems
  1    a model has errors or was not inferred; --lint, --check or --fail-on
       finds something; --diff does not report equal; or the model is not known
       to fit within --fits or --max-memory
  2    the call is wrong, a file cannot be read or written, or the file is not
       a model
  130  interrupted
"""


class WrongCall(Exception):  # noqa: N818  (not a defect: the message is for the caller)
    """The call is wrong, or a file cannot be read or written. The message says why."""


def read_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a call. Raises SystemExit with code 2 if the call is wrong."""
    parser = command_parser()
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        from symdim.errors import nearest  # few calls need it

        meant = nearest(unknown[0].partition("=")[0], parser._option_string_actions)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{f'; do you mean {meant}?' if meant else ''}")
    check_together(parser, options)
    return options


def inference_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `onnx_infer.infer` that a call gives. Those with their defaults are left out."""
    names = ("policy", "bounds", "assume", "bidirectional", "assume_declared", "initializers", "values", "broadcast")
    given = {name: getattr(options, name) for name in names}
    given.update(bounds=dict(options.bounds), values=dict(options.values))
    return {name: value for name, value in given.items() if value}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


class HelpText(argparse.RawDescriptionHelpFormatter):
    """The text of `--help`, in lines of at most 80 characters."""

    def __init__(self, prog: str) -> None:
        from shutil import get_terminal_size  # argparse, too, imports it for a help text only

        super().__init__(prog, width=min(80, get_terminal_size((80, 24)).columns))


class PrintVersions(argparse.Action):
    """Prints the versions, without importing onnx."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from symdim import __version__

        python = ".".join(map(str, sys.version_info[:3]))
        print(f"{parser.prog} {__version__} ({_onnx()}, Python {python})")
        parser.exit()


def _onnx() -> str:
    """The installed onnx and its version, which the folder with its metadata has in its name.

    `importlib.metadata`, whose import costs as much as all else here, is for an onnx that lies elsewhere.
    """
    from importlib.util import find_spec

    spec = find_spec("onnx")
    if spec is None or spec.origin is None:
        return "no onnx"
    beside = os.listdir(os.path.dirname(os.path.dirname(spec.origin)))
    metadata = [name for name in beside if name.startswith("onnx-") and name.endswith(".dist-info")]
    if len(metadata) == 1:
        return f"onnx {metadata[0].removeprefix('onnx-').removesuffix('.dist-info')}"
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"onnx {version('onnx')}"
    except PackageNotFoundError:
        return "onnx without metadata"


def command_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="onnx-infer",
        usage="%(prog)s [OPTION ...] FILE",  # the list of all options would hide the message of an error
        description="Infer the shape of every value of an ONNX model, as a formula of its\ninput sizes.",
        epilog=_EPILOG,
        formatter_class=HelpText,
    )
    parser.add_argument("--version", action=PrintVersions, help="the versions of onnx-infer, onnx and Python")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "models", nargs="*", default=[], metavar="FILE",
        help="an .onnx file; external data is not read. A folder or several files: all models, in worker processes",
    )  # fmt: skip
    source.add_argument("--demo", action="store_true", help="run on a built-in demo model")
    for title, options in _GROUPS.items():
        group = parser.add_argument_group(title)
        target = group.add_mutually_exclusive_group() if title == "output" else group
        for name, settings in options.items():
            names = ("-o", name) if name == "--output" else (name,)
            (target if name in _TARGETS else group).add_argument(*names, **settings)
    return parser


_TARGETS = ("--output", "--in-place")
"""The options that say where a model is written, of which a call has one."""


def _switch(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


def _one(metavar: str, read: Callable[[str], Any], help: str) -> dict[str, Any]:
    return {"metavar": metavar, "type": read, "help": help}


def _choice(choices: Sequence[str], help: str) -> dict[str, Any]:
    return {"choices": choices, "help": help}


def _many(metavar: str | None, read: Callable[[str], Any], help: str, **others: Any) -> dict[str, Any]:
    return {"metavar": metavar, "type": read, "action": "append", "default": [], "help": help, **others}


_GROUPS: dict[str, dict[str, dict[str, Any]]] = {
    "inference": {
        "--bind": _many("NAME=SIZE,...", bindings,
            "replace symbols by numbers, N=4,M=8, or by expressions, H=32*h; repeatable"),
        "--input-shape": _many("INPUT:SIZES", input_shape,
            "the shape of an input: x:1,3,224,224; ? is what the model has; repeatable"),
        "--rename": _many("OLD=NEW", renaming, "rename a symbol, before anything else; repeatable"),
        "--bounds": _many("NAME=LO..HI,...", intervals, "range of a symbol: batch=1..8,seq=1..128; repeatable"),
        "--value": _many("INPUT=VALUE", input_value,
            "elements of an input: sr=16000, axes=[0, 1]; repeatable", dest="values"),
        "--assume": _many("RELATION", str, "assume a relation between symbols, e.g. 'H %% 32 == 0'; repeatable"),
        "--import": _many("MODULE", str,
            "import a module with rules first; it may be in the current folder; repeatable", dest="modules"),
        "--bidirectional": _switch("also infer the shapes of inputs from their uses"),
        "--assume-declared": _switch("trust the shapes declared in the model"),
        "--initializers": _choice(("overridable", "constant"),
            "initializers that are also inputs: unknown, since a caller may override them (default), or constants"),
        "--broadcast": _choice(("onnx", "strict"),
            "strict: treat two symbols that are broadcast together as equal; default: onnx"),
        "--policy": _choice(POLICIES, "how declared types are merged with inferred ones; default: refine"),
    },
    "output": {
        "--output": _one("FILE", str, "write the model with the inferred types"),
        "--in-place": _switch("write the model to the file that was read"),
        "--fold": _switch("write a smaller model that computes the same"),
        "--keep-guards": _switch(
            "with --fold: keep nodes that can reject inputs, so the original error message is preserved"),
        "--copy-data": _switch("copy external data beside the model that is written"),
        "--contract": _switch("with -o: store bounds, guards and upper bounds in the graph's metadata"),
        "--check": _switch(
            "check sizes (--bind, --input-shape) and elements (--value) against the contract stored in the file; with"
            " --fold and -o: run both files in onnxruntime at a few sizes, and compare their outputs"),
        "--fail-on": _many(None, str,
            "exit with 1 if a value is not exact, or if there are guards; repeatable", choices=("unknown", "guards")),
        "--format": _choice(("text", "github"), "github: each error as an annotation of GitHub Actions"),
        "--quiet": _switch("print only problems"),
        "--explain": _one("VALUE", str, "show where the type of this value comes from"),
        "--json": _switch("print JSON"),
        "--all": _switch("print all values"),
        "--full": _switch("do not shorten lines to the width of the terminal"),
    },
    "costs, memory and differences": {
        "--costs": _switch("parameters and multiply-adds, by layer and by node"),
        "--memory": _switch("peak memory, its node, and memory by layer"),
        "--max-memory": _one("BYTES", byte_count,
            "the largest size of the remaining symbol that fits, e.g. 8GB, 512MiB"),
        "--diff": _one("OTHER", str, "compare with another export of the model"),
    },
    "memory arena": {
        "--arena": _switch("an offset for each value in one buffer, for all sizes"),
        "--align": _one("BYTES", positive, "alignment of buffer offsets in bytes; default: 64"),
        "--order": _choice(("file", "least"), "execution order; least: one that needs less memory"),
        "--caller-owned": _choice(("none", "inputs", "outputs", "inputs,outputs"),
            "what the caller allocates, outside the arena; default: inputs"),
        "--at": _many("NAME=SIZE,...", sizes,
            "sizes to optimize the plan for and to report; repeatable; default: several magnitudes"),
        "--annotate-arena": _switch("with -o: store the plan in the values' metadata"),
        "--fits": _one("BYTES", byte_count, "check that the peak stays within BYTES for all sizes in --bounds"),
    },
    "making a model dynamic": {
        "--dynamic": _many("INPUT:AXIS=SYMBOL", freed_axis,
            "make an axis of an input dynamic; *:0=batch: of all inputs with the same size there; repeatable"),
        "--apply": _switch("make the proposed changes"),
        "--unfinished": _switch("make the changes and write the model even if sizes are still fixed"),
    },
    "many models": {
        "--json-lines": _one("OUT", str,
            "write a line for each model to this file; unchanged models are not run again"),
        "--force": _switch("with --json-lines: run unchanged models again"),
        "--jobs": _one("N", positive, "number of worker processes; default: 1"),
        "--timeout": _one("SECONDS", positive, "time limit for one model; default: 300"),
        "--max-worker-memory": _one("BYTES", byte_count, "memory limit of a worker, e.g. 2GB"),
    },
    "reports and code generation": {
        "--html": _one("FILE", str, "write an interactive HTML report"),
        "--emit": _choice(FILE_KINDS,
            "print code that computes all sizes: a C file, its header (h), or a JavaScript module"),
        "--name": _one("NAME", identifier, "with --emit: prefix of all C names; default: the file's name"),
        "--no-names": _switch("with --emit: omit names of values and texts of guards from the C tables"),
        "--lint": _switch("report what onnx's checker or onnxruntime rejects when loading the model"),
        "--dialect": _choice(DIALECTS, "syntax in which sizes and guards are printed"),
    },
}  # fmt: skip
"""The options by the heading of `--help`, each with what argparse is told of it."""
