"""The command line: `python -m onnx_infer model.onnx`, or `onnx-infer model.onnx`."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from onnx_infer import needed
from onnx_infer.tools.cli.arguments import INTERRUPTED, USAGE, WrongCall, read_arguments
from onnx_infer.tools.cli.together import is_check
from symdim.errors import printable_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

_MANY = 100_000
"""More objects than all imports make together. After so many new ones garbage is collected."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. Raises SystemExit for `--help`, `--version` and wrong options."""
    options = read_arguments(argv)
    if missing := needed():
        print(f"onnx-infer: {missing}", file=sys.stderr)
        return USAGE
    try:
        if is_check(options):
            from onnx_infer.tools.cli.checking import run as check  # it needs no engine

            return check(options)
        from onnx_infer.tools.cli.command import run  # onnx is imported here

        return run(options)
    except WrongCall as error:
        print(f"onnx-infer: {printable_lines(str(error))}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("onnx-infer: interrupted", file=sys.stderr)
        return INTERRUPTED


def command() -> int:
    """The command in a process of its own. The garbage collector leaves alone what lives as long as the process.

    Otherwise imports alone, and the end of the process, would take a quarter of the time for a small model.
    """
    gc.set_threshold(_MANY, *gc.get_threshold()[1:])
    try:
        return main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(command())
