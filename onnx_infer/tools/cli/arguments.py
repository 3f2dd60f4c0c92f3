"""The options of the command line. This file imports neither onnx nor the engine, so `--help` is quick."""

from __future__ import annotations

import argparse
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
from onnx_infer.tools.cli.versions import HelpText, PrintVersions
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
    _add_inference(parser.add_argument_group("inference"))
    _add_output(parser.add_argument_group("output"))
    _add_planning(parser.add_argument_group("costs, memory and differences"))
    _add_arena(parser.add_argument_group("memory arena"))
    _add_dynamic(parser.add_argument_group("making a model dynamic"))
    _add_fleets(parser.add_argument_group("many models"))
    _add_other_forms(parser.add_argument_group("reports and code generation"))
    return parser


def _add_dynamic(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--dynamic", metavar="INPUT:AXIS=SYMBOL", type=freed_axis, action="append", default=[],
        help="make an axis of an input dynamic; *:0=batch: of all inputs with the same size there; repeatable",
    )  # fmt: skip
    group.add_argument("--apply", action="store_true", help="make the proposed changes")
    group.add_argument(
        "--unfinished", action="store_true", help="make the changes and write the model even if sizes are still fixed"
    )


def _add_fleets(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--json-lines",
        metavar="OUT",
        help="write a line for each model to this file; unchanged models are not run again",
    )
    group.add_argument("--force", action="store_true", help="with --json-lines: run unchanged models again")
    group.add_argument("--jobs", metavar="N", type=positive, help="number of worker processes; default: 1")
    group.add_argument("--timeout", metavar="SECONDS", type=positive, help="time limit for one model; default: 300")
    group.add_argument(
        "--max-worker-memory", metavar="BYTES", type=byte_count, help="memory limit of a worker, e.g. 2GB"
    )


def _add_inference(group: argparse._ArgumentGroup) -> None:
    def repeatable(name: str, metavar: str, help: str, read: Callable[[str], Any] = str, dest: str = "") -> None:
        group.add_argument(
            name, metavar=metavar, type=read, action="append", default=[], help=f"{help}; repeatable",
            dest=dest or name.strip("-").replace("-", "_"),
        )  # fmt: skip

    repeatable("--bind", "NAME=SIZE,...", "replace symbols by numbers, N=4,M=8, or by expressions, H=32*h", bindings)
    repeatable(
        "--input-shape", "INPUT:SIZES", "the shape of an input: x:1,3,224,224; ? is what the model has", input_shape
    )
    repeatable("--rename", "OLD=NEW", "rename a symbol, before anything else", renaming)
    repeatable("--bounds", "NAME=LO..HI,...", "range of a symbol: batch=1..8,seq=1..128", intervals)
    repeatable("--value", "INPUT=VALUE", "elements of an input: sr=16000, axes=[0, 1]", input_value, "values")
    repeatable("--assume", "RELATION", "assume a relation between symbols, e.g. 'H %% 32 == 0'")
    repeatable(
        "--import", "MODULE", "import a module with rules first; it may be in the current folder", dest="modules"
    )
    group.add_argument("--bidirectional", action="store_true", help="also infer the shapes of inputs from their uses")
    group.add_argument("--assume-declared", action="store_true", help="trust the shapes declared in the model")
    group.add_argument(
        "--initializers",
        choices=("overridable", "constant"),
        help="initializers that are also inputs: unknown, since a caller may override them (default), or constants",
    )
    group.add_argument(
        "--broadcast", choices=("onnx", "strict"),
        help="strict: treat two symbols that are broadcast together as equal; default: onnx",
    )  # fmt: skip
    group.add_argument(
        "--policy", choices=POLICIES, help="how declared types are merged with inferred ones; default: refine"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    target = group.add_mutually_exclusive_group()
    target.add_argument("-o", "--output", metavar="FILE", help="write the model with the inferred types")
    target.add_argument("--in-place", action="store_true", help="write the model to the file that was read")
    group.add_argument("--fold", action="store_true", help="write a smaller model that computes the same")
    group.add_argument(
        "--keep-guards",
        action="store_true",
        help="with --fold: keep nodes that can reject inputs, so the original error message is preserved",
    )
    group.add_argument("--copy-data", action="store_true", help="copy external data beside the model that is written")
    group.add_argument(
        "--contract", action="store_true", help="with -o: store bounds, guards and upper bounds in the graph's metadata"
    )
    group.add_argument(
        "--check", action="store_true",
        help="check sizes (--bind, --input-shape) and elements (--value) against the contract stored in the file; with"
        " --fold and -o: run both files in onnxruntime at a few sizes, and compare their outputs",
    )  # fmt: skip
    group.add_argument(
        "--fail-on", choices=("unknown", "guards"), action="append", default=[],
        help="exit with 1 if a value is not exact, or if there are guards; repeatable",
    )  # fmt: skip
    group.add_argument(
        "--format", choices=("text", "github"), help="github: each error as an annotation of GitHub Actions"
    )
    group.add_argument("--quiet", action="store_true", help="print only problems")
    group.add_argument("--explain", metavar="VALUE", help="show where the type of this value comes from")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("--all", action="store_true", help="print all values")
    group.add_argument("--full", action="store_true", help="do not shorten lines to the width of the terminal")


def _add_planning(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--costs", action="store_true", help="parameters and multiply-adds, by layer and by node")
    group.add_argument("--memory", action="store_true", help="peak memory, its node, and memory by layer")
    group.add_argument(
        "--max-memory",
        metavar="BYTES",
        type=byte_count,
        help="the largest size of the remaining symbol that fits, e.g. 8GB, 512MiB",
    )
    group.add_argument("--diff", metavar="OTHER", help="compare with another export of the model")


def _add_arena(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--arena", action="store_true", help="an offset for each value in one buffer, for all sizes")
    group.add_argument(
        "--align", metavar="BYTES", type=positive, help="alignment of buffer offsets in bytes; default: 64"
    )
    group.add_argument("--order", choices=("file", "least"), help="execution order; least: one that needs less memory")
    group.add_argument(
        "--caller-owned", choices=("none", "inputs", "outputs", "inputs,outputs"),
        help="what the caller allocates, outside the arena; default: inputs",
    )  # fmt: skip
    group.add_argument(
        "--at", metavar="NAME=SIZE,...", type=sizes, action="append", default=[],
        help="sizes to optimize the plan for and to report; repeatable; default: several magnitudes",
    )  # fmt: skip
    group.add_argument("--annotate-arena", action="store_true", help="with -o: store the plan in the values' metadata")
    group.add_argument(
        "--fits",
        metavar="BYTES",
        type=byte_count,
        help="check that the peak stays within BYTES for all sizes in --bounds",
    )


def _add_other_forms(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--html", metavar="FILE", help="write an interactive HTML report")
    group.add_argument(
        "--emit", choices=FILE_KINDS,
        help="print code that computes all sizes: a C file, its header (h), or a JavaScript module",
    )  # fmt: skip
    group.add_argument(
        "--name", metavar="NAME", type=identifier, help="with --emit: prefix of all C names; default: the file's name"
    )
    group.add_argument(
        "--no-names",
        action="store_true",
        help="with --emit: omit names of values and texts of guards from the C tables",
    )
    group.add_argument(
        "--lint", action="store_true", help="report what onnx's checker or onnxruntime rejects when loading the model"
    )
    group.add_argument("--dialect", choices=DIALECTS, help="syntax in which sizes and guards are printed")
