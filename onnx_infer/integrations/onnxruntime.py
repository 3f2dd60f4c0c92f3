"""The names and flags of onnxruntime's symbolic shape inference, for scripts that call it; see
docs/coming_from_onnxruntime.md. onnxruntime itself is not needed.

    from onnx_infer.integrations.onnxruntime import SymbolicShapeInference
    python -m onnx_infer.integrations.onnxruntime --input model.onnx --output inferred.onnx --auto_merge
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from onnx.external_data_helper import uses_external_data

from onnx_infer.api import infer, read_model
from onnx_infer.inference import log

if TYPE_CHECKING:
    from collections.abc import Sequence


class SymbolicShapeInference:
    """As `onnxruntime.tools.symbolic_shape_infer.SymbolicShapeInference`. Its only public method is `infer_shapes`."""

    @staticmethod
    def infer_shapes(
        in_mp: onnx.ModelProto,
        int_max: int = 2**31 - 1,
        auto_merge: bool = False,
        guess_output_rank: bool = False,
        verbose: int = 0,
    ) -> onnx.ModelProto:
        """A copy of the model with the type and shape of every value.

        `auto_merge` assumes that the types which the model declares are right. Sizes that operators demand to be equal
        are never merged by a guess: `onnx_infer.infer` lists the demands as guards. `int_max` and `guess_output_rank`
        have no effect: sizes are exact, and no rank is guessed. `verbose` logs the errors of the model.
        """
        model = onnx.ModelProto()
        model.CopyFrom(in_mp)
        result = infer(model, assume_declared=auto_merge)
        if verbose:
            log(result.diagnostics, warn_on_missing=True)
        return result.apply(model)


def main(argv: Sequence[str] | None = None) -> int:
    """The command with onnxruntime's flags; returns the exit code."""
    parser = argparse.ArgumentParser(description="Symbolic shape inference with the flags of onnxruntime's tool.")
    parser.add_argument("--input", required=True, help="the model")
    parser.add_argument("--output", default="sym_shape_infer_temp.onnx", help="the model with shapes")
    parser.add_argument("--auto_merge", action="store_true", help="assume that the types the model declares are right")
    parser.add_argument("--int_max", type=int, default=2**31 - 1, help="no effect: sizes are exact")
    parser.add_argument("--guess_output_rank", action="store_true", help="no effect: no rank is guessed")
    parser.add_argument("--verbose", type=int, default=0, help="from 1 on: log the errors of the model")
    options = parser.parse_args(argv)
    model = read_model(options.input)
    moved = Path(options.input).resolve().parent != Path(options.output).resolve().parent
    if moved and any(uses_external_data(tensor) for tensor in model.graph.initializer):
        cure = f"call onnx-infer {options.input} -o {options.output} --copy-data"
        print(f"the weights beside {options.input} would not be found from {options.output}: {cure}", file=sys.stderr)
        return 2
    arguments = (options.int_max, options.auto_merge, options.guess_output_rank, options.verbose)
    onnx.save(SymbolicShapeInference.infer_shapes(model, *arguments), options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
