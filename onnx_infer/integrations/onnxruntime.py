"""The names and flags of onnxruntime's symbolic shape inference, for scripts that call it; see
docs/coming_from.md. onnxruntime itself is not needed.

    from onnx_infer.integrations.onnxruntime import SymbolicShapeInference
    python -m onnx_infer.integrations.onnxruntime --input model.onnx --output inferred.onnx --auto_merge
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING

import onnx

from onnx_infer.api import infer
from onnx_infer.diagnostics import log
from onnx_infer.errors import OnnxInferError
from onnx_infer.integrations.replacing import Replacement
from onnx_infer.protobuf.files import data_files, own_locations, read_model, save_model
from onnx_infer.protobuf.wire import type_bytes
from symdim import Expr
from symdim.errors import printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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


class SymbolicShapeInferenceHelper:
    """The class of this name that the fusions of `onnxruntime.transformers` use, with the methods that they call."""

    infer_shapes = staticmethod(SymbolicShapeInference.infer_shapes)

    def __init__(self, model: onnx.ModelProto, *_: object, **__: object) -> None:
        self._result = infer(model)
        self._sizes: dict[str, int] = {}
        self.known_vi_ = {
            name: onnx.ValueInfoProto(name=name, type=onnx.TypeProto.FromString(type_bytes(value)))
            for name, value in self._result.types.items()
        }

    def infer(self, dynamic_axis_mapping: Mapping[str, int], max_runs: int = 0) -> bool:
        """Set the sizes of symbols. True: everything that can be known is inferred already."""
        self._sizes = dict(dynamic_axis_mapping)
        return True

    def get_edge_shape(self, edge: str) -> list[int | str] | None:
        """The sizes of a value: numbers and texts; None where its rank is not known.

        The fusions compare texts, and equal sizes (`n - n//2`, `(n + 1)//2`) have one.
        """
        shape = self._result.shapes.get(edge)
        if shape is None:
            return None
        sizes = [d.substitute({n: self._sizes[n] for n in d.free_symbols() & self._sizes.keys()})
                 if isinstance(d, Expr) else d for d in shape]  # fmt: skip
        return [d if isinstance(d, int) else str(d) for d in sizes]

    def compare_shape(self, edge: str, edge_other: str) -> bool:
        """Whether two values have the same shape; not where one of them is not known."""
        shapes = self.get_edge_shape(edge), self.get_edge_shape(edge_other)
        return None not in shapes and shapes[0] == shapes[1]


def _replace() -> Callable[[], None]:
    """Put the two classes above into the modules from which onnxruntime's tools import their inference."""
    names: dict[str, type] = {
        "onnxruntime.tools.symbolic_shape_infer": SymbolicShapeInference,
        "shape_infer_helper": SymbolicShapeInferenceHelper,  # a file that the optimizer has on its own path
    }
    former = {name: sys.modules.get(name) for name in names}
    for name, new in names.items():
        sys.modules[name] = module = ModuleType(name)
        setattr(module, new.__name__, new)

    def take_back() -> None:
        for name, old in former.items():
            del sys.modules[name]
            if old is not None:
                sys.modules[name] = old

    return take_back


replaced = Replacement(_replace).installed
"""Let onnxruntime's own tools infer by this package: `with replaced(): quant_pre_process(...)`.

The pre-processing of its quantization and its transformers optimizer import their inference when they need it. In the
block, the modules from which they import it hold the two classes above.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The command with onnxruntime's flags. Returns the exit code: 0, or 2 if a file cannot be read or written."""
    options = _parser().parse_args(argv)
    arguments = (options.int_max, options.auto_merge, options.guess_output_rank, options.verbose)
    try:
        model = SymbolicShapeInference.infer_shapes(read_model(options.input), *arguments)
        if options.output is not None:
            _save(model, options)
    except (OSError, OnnxInferError, onnx.checker.ValidationError) as error:
        cure = "--save_as_external_data writes them there"
        told = str(error).replace("use copy_data=True to copy it there", cure)
        print(f"error: {printable_lines(told)}", file=sys.stderr)
        return 2
    return 0


def _save(model: onnx.ModelProto, options: argparse.Namespace) -> None:
    """Write the model; with `--save_as_external_data`, its weights beside it."""
    if not options.save_as_external_data:
        save_model(model, options.input, options.output)
        return
    source, target = Path(options.input), Path(os.path.realpath(options.output))
    files = data_files(model, source.parent)
    own_locations(files, source)
    root = source.resolve().anchor
    for file in files:
        file.link(os.path.relpath(os.path.realpath(file.path), root))  # onnx reads no links
    onnx.load_external_data_for_model(model, root)
    with TemporaryDirectory(prefix=".", dir=target.parent) as folder:  # onnx writes files of weights by their names
        onnx.save_model(
            model,
            os.path.join(folder, target.name),
            save_as_external_data=True,
            all_tensors_to_one_file=options.all_tensors_to_one_file,
            location=options.external_data_location,
            size_threshold=options.external_data_size_threshold,
        )
        made = [path for path in Path(folder).rglob("*") if path.is_file()]
        for path in sorted(made, key=lambda path: path == Path(folder, target.name)):  # the model comes last
            _move(path, target.parent / path.relative_to(folder))


def _move(path: Path, place: Path) -> None:
    if place.is_symlink():
        raise FileExistsError(None, "a link is in the place of the external data", str(place))
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        shutil.copymode(place, path)
    os.replace(path, place)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Symbolic shape inference with the flags of onnxruntime's tool.")
    parser.add_argument("--input", required=True, help="the model")
    parser.add_argument("--output", help="the model with shapes; without it nothing is written")
    parser.add_argument("--auto_merge", action="store_true", help="assume that the types the model declares are right")
    parser.add_argument("--int_max", type=int, default=2**31 - 1, help="no effect: sizes are exact")
    parser.add_argument("--guess_output_rank", action="store_true", help="no effect: no rank is guessed")
    parser.add_argument("--verbose", type=int, default=0, help="from 1 on: log the errors of the model")
    parser.add_argument("--save_as_external_data", action="store_true", help="write the weights beside the model")
    parser.add_argument("--all_tensors_to_one_file", action="store_true", help="write them into one file")
    parser.add_argument("--external_data_location", help="the name of that file")
    parser.add_argument("--external_data_size_threshold", type=int, default=1024, help="in bytes: write larger weights")
    return parser


if __name__ == "__main__":
    sys.exit(main())
