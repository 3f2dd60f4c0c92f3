"""The command line: `python -m onnx_infer model.onnx`, or `onnx-infer model.onnx`.

Exit codes: 0 all is well, 1 the model has errors (they are shown), 2 the call is wrong or the file is no model.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_infer.api import infer, read_model
from onnx_infer.cli.demo import demo_model
from onnx_infer.errors import NoModelError, ShapeInferenceError
from onnx_infer.protobuf.specialize import specialize
from onnx_infer.results.report.explanation import explain
from onnx_infer.results.report.plain_data import as_json
from onnx_infer.results.report.table import table
from onnx_infer.types.merge import POLICIES
from symdim import BoundsError, ParseError, SymdimError, UnboundName

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, MODEL_ERRORS, USAGE = 0, 1, 2


def arguments() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="onnx-infer",
        description="Infer the type and shape of every value of an ONNX model, sizes as expressions of input sizes.",
        epilog="exit codes: 0 all is well, 1 the model has errors, 2 the call is wrong or the file is no model",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("model", nargs="?", help="an .onnx file; external data are not read")
    source.add_argument("--demo", action="store_true", help="a model built in memory")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the model with what was inferred")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--bind", metavar="NAME=SIZE", action="append", default=[], type=binding, help="fix a symbol; repeatable"
    )
    parser.add_argument(
        "--bounds", metavar="NAME=LO..HI", action="append", default=[], type=interval, help="limit a symbol; repeatable"
    )
    parser.add_argument(
        "--assume",
        metavar="RELATION",
        action="append",
        default=[],
        help="what else holds: 'H %% 32 == 0'; repeatable",
    )
    parser.add_argument(
        "--bidirectional", action="store_true", help="infer the shapes of inputs from what uses them, too"
    )
    parser.add_argument(
        "--assume-declared", action="store_true", help="take what the model declares of its values for granted"
    )
    parser.add_argument(
        "--initializers",
        choices=("overridable", "constant"),
        default="overridable",
        help="initializers that are also inputs: unknown, since a caller may override them, or constants",
    )
    parser.add_argument("--explain", metavar="VALUE", help="where the type of this value comes from")
    parser.add_argument("--policy", choices=POLICIES, default="refine", help="inferred against declared types")
    parser.add_argument("--all", action="store_true", help="show every value, however many there are")
    return parser


def binding(text: str) -> tuple[str, int]:
    """The name and size of `N=4`; a name may contain `=`.

    >>> binding("seq len=128")
    ('seq len', 128)
    """
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=SIZE")
    return name, int(size)


def interval(text: str) -> tuple[str, tuple[int, int | None]]:
    """The name and bounds of `N=1..64`; without an upper end there is none.

    >>> interval("N=1..64"), interval("seq=0..")
    (('N', (1, 64)), ('seq', (0, None)))
    """
    name, _, ends = text.rpartition("=")
    low, dots, high = ends.partition("..")
    if not name or not dots or not low.isdecimal() or not (high.isdecimal() or not high):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=LO..HI")
    return name, (int(low), int(high) if high else None)


def load(path: str) -> onnx.ModelProto:
    """The model in a file, without external data; SystemExit with a message where there is none."""
    try:
        model = read_model(path)
    except OSError as error:
        raise SystemExit(_usage(f"{path}: {error.strerror or error}")) from None
    except NoModelError as error:
        raise SystemExit(_usage(str(error))) from None
    if not model.HasField("graph"):
        raise SystemExit(_usage(f"{path}: not an ONNX model (it has no graph)"))
    return model


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    options = arguments().parse_args(argv)
    model = demo_model() if options.demo else load(options.model)
    if options.bind:
        try:
            model = specialize(model, dict(options.bind))
        except UnboundName as error:
            return _usage(f"--bind: no dim_param of the model contains {', '.join(error.names)}")
        except SymdimError as error:
            return _usage(f"--bind: {error}")
    try:
        result = infer(
            model,
            policy=options.policy,
            bounds=dict(options.bounds),
            assume=options.assume,
            bidirectional=options.bidirectional,
            assume_declared=options.assume_declared,
            initializers=options.initializers,
        )
    except ParseError as error:
        return _usage(f"--assume: {error}")
    except BoundsError as error:
        return _usage(f"--bounds: {error}")
    except ShapeInferenceError as error:
        print(f"error: {error}", file=sys.stderr)
        return MODEL_ERRORS
    if options.explain is not None:
        if options.explain not in result.types:
            return _usage(f"--explain: the main graph has no value {options.explain!r}")
        print(explain(result, options.explain))
    elif options.json:
        print(json.dumps(as_json(result), indent=1))
    else:
        print(table(result, None if options.all else 40))
    if options.output:
        onnx.save(result.apply(model), options.output)
        if not options.json:
            print(f"\nwritten: {Path(options.output)}")
    return MODEL_ERRORS if any(d.severity != "warning" for d in result.diagnostics) else OK


def _usage(message: str) -> int:
    print(f"onnx-infer: {message}", file=sys.stderr)
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
