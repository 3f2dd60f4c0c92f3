"""The command line: `python -m onnx_infer model.onnx`, or `onnx-infer model.onnx`.

Exit codes: 0 all is well, 1 the model has errors (they are shown), 2 the call is wrong, a file cannot be read or
written, or the file is no model, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from onnx_infer import needed
from onnx_infer.cli.arguments import WrongCall, read_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, MODEL_ERRORS, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. Raises SystemExit for `--help`, `--version` and wrong options."""
    options = read_arguments(argv)
    if missing := needed():
        print(f"onnx-infer: {missing}", file=sys.stderr)
        return USAGE
    try:
        from onnx_infer.cli.command import run  # onnx is imported here

        return run(options)
    except WrongCall as error:
        print(f"onnx-infer: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("onnx-infer: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
