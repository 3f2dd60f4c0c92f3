"""The command `python -m symdim`. `python -m symdim check TEXT` reads texts of sizes, as a `dim_param` has them.

It prints the canonical text, and with `--bind` the value. A text that is no expression is shown with a caret at the
place of the error. `docs/dim_param.md` is the specification of these texts.

`python -m symdim vendor DIR` writes a copy of the core for another project; see docs/for_exporters.md.

Exit codes: 0 every text is an expression, or the copy is written, 1 a text is refused or has no value at the given
sizes, or there is something else where the copy would be, 2 the call is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from symdim import BoundsError, Expr, ParseError, SymdimError, parse
from symdim.algebra.texts.printing import is_too_long
from symdim.algebra.texts.written import leaf_count
from symdim.errors import printable, printable_lines
from symdim.parser.lexemes import Dialect
from symdim.vendoring import COPIES, vendor

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, REFUSED, USAGE = 0, 1, 2

STANDARD = "-"
"""The text that stands for standard input."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. Raises SystemExit for `--help` and wrong options."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command == "vendor":
        return _vendor(options)
    try:
        texts = sys.stdin.read().splitlines() if options.text == STANDARD else [options.text]
        answers = [_answer(text, options) for text in texts]
    except (BoundsError, UnicodeDecodeError) as error:
        parser.error(str(error))
    for answer in answers:
        if options.json:
            print(printable(json.dumps(answer)))
        elif "message" in answer:
            print(printable_lines(answer["message"]), file=sys.stderr)
        else:
            texts = [answer["canonical"], str(answer.get("value", ""))]
            print(*map(printable, filter(None, texts)), sep="\n")
    return REFUSED if any("message" in answer for answer in answers) else OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m symdim", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    check = commands.add_parser(
        "check",
        help="read a text as an expression",
        description="Read a text as an expression and print its canonical text, and its value with --bind.",
        epilog="exit codes: 0 every text is an expression, 1 one is refused or has no value, 2 the call is wrong",
    )
    check.add_argument("text", metavar="TEXT", help="the text, or - for one text in each line of standard input")
    check.add_argument("--name", metavar="NAME", action="append", default=[], help="a declared name; repeatable")
    check.add_argument("--dialect", choices=get_args(Dialect), help="what / and other signs mean")
    check.add_argument(
        "--bind", metavar="NAME=SIZE", type=_binding, action="append", default=[], help="a size; repeatable"
    )
    check.add_argument("--json", action="store_true", help="one JSON object for each text")
    copy = commands.add_parser(
        "vendor",
        help="write a copy of the core for another project",
        description="Write the core as one folder with relative imports. An earlier copy there is replaced.",
    )
    copy.add_argument("directory", metavar="DIR", type=Path, help="where to write the folder")
    copy.add_argument("--package", metavar="NAME", default="symdim", help="the name of the folder (default: symdim)")
    copy.add_argument("--with", choices=[*filter(None, COPIES)], dest="extra", default="", help="what to add")
    return parser


def _vendor(options: argparse.Namespace) -> int:
    try:
        files = vendor(options.directory, options.package, options.extra)
    except (SymdimError, OSError) as error:
        print(printable(str(error)), file=sys.stderr)
        return REFUSED
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files if path.suffix == ".py")
    print(f"{len(files)} files, {lines} lines of Python: {printable(str(options.directory / options.package))}")
    return OK


def _binding(text: str) -> tuple[str, int]:
    name, equals, size = text.rpartition("=")
    if not (name and equals and size.strip().isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SIZE")
    return name, int(size)


def _answer(text: str, options: argparse.Namespace) -> dict[str, Any]:
    """What is said of a text: its canonical text, names and value, or the message and position of the error."""
    answer: dict[str, Any] = {"text": text}
    try:
        dim = parse(text, options.name, dialect=options.dialect)
        if isinstance(dim, Expr) and is_too_long(dim):
            raise SymdimError(f"an expression of {leaf_count(dim)} names is not printed")
        answer["canonical"] = str(dim)
        answer["names"] = sorted(dim.free_symbols()) if isinstance(dim, Expr) else []
        if options.bind:
            sizes = dict(options.bind)
            value: int | Expr = dim
            if isinstance(dim, Expr):  # the sizes are those of all texts
                value = dim.substitute(sizes) if options.text == STANDARD else dim.evaluate(sizes)
            answer["value"] = value if isinstance(value, int) else str(value)
    except BoundsError:
        raise
    except ParseError as error:
        answer |= {"message": str(error), "error": error.message, "position": error.position}
    except SymdimError as error:
        answer |= {"message": f"{text}: {error}", "error": str(error), "position": None}
    return answer


if __name__ == "__main__":
    sys.exit(main())
