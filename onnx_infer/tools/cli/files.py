"""Reading and writing models: files, standard input and output, the demo. Every failure is a `WrongCall`."""

from __future__ import annotations

import os
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.message import EncodeError

from onnx_infer.errors import ExternalDataError, NoModelError
from onnx_infer.protobuf.files import check_data_stay, read_model, same_path, save_model
from onnx_infer.tools.cli.arguments import WrongCall
from onnx_infer.tools.cli.terminal import read_bytes, write_bytes
from onnx_infer.tools.cli.together import STANDARD
from symdim.outputs import write_whole

if TYPE_CHECKING:
    import onnx


_DEMO = """
<ir_version: 10, opset_import: ["": 20]>
demo (float[N, 3, H, W] image, int64[N, S] tokens) => (float[N, 4, T, T] scores, int64[3, K] kept)
<int64[1] minus1 = {-1}, int64[1] zero = {0}, int64[1] heads = {4}, int64[1] head_size = {16},
 int64 first = {0}, int64 second = {1}, int64[1] width = {64}, float half = {0.5}>
{
    conv1 = Conv <strides: ints = [2, 2], pads: ints = [3, 3, 3, 3]> (image, kernel7)
    pool1 = MaxPool <kernel_shape: ints = [3, 3], strides: ints = [2, 2], ceil_mode: int = 1> (conv1)
    conv2 = Conv <strides: ints = [2, 2], pads: ints = [1, 1, 1, 1]> (pool1, kernel3)
    image_shape = Shape (conv2)
    batch = Gather (image_shape, zero)
    flat_shape = Concat <axis: int = 0> (batch, width, minus1)
    flat = Reshape (conv2, flat_shape)
    patches = Transpose <perm: ints = [0, 2, 1]> (flat)
    words = Gather (embedding, tokens)
    sequence = Concat <axis: int = 1> (patches, words)
    shape = Shape (sequence)
    n = Gather (shape, first)
    t = Gather (shape, second)
    n1 = Unsqueeze (n, zero)
    t1 = Unsqueeze (t, zero)
    split_shape = Concat <axis: int = 0> (n1, t1, heads, head_size)
    q0 = MatMul (sequence, weight_q)
    q1 = Reshape (q0, split_shape)
    q = Transpose <perm: ints = [0, 2, 1, 3]> (q1)
    k0 = MatMul (sequence, weight_k)
    k1 = Reshape (k0, split_shape)
    k = Transpose <perm: ints = [0, 2, 3, 1]> (k1)
    scores = MatMul (q, k)
    mean = ReduceMean <keepdims: int = 0> (scores, minus1)
    strong = Greater (mean, half)
    kept = NonZero (strong)
}
"""
"""The model of `--demo`, with symbolic N, H, W and S.

It has the chains of Shape, Gather and Concat that exporters write for every view and reshape.
"""

_WEIGHTS = {
    "kernel7": (64, 3, 7, 7),
    "kernel3": (64, 64, 3, 3),
    "embedding": (1000, 64),
    "weight_q": (64, 64),
    "weight_k": (64, 64),
}


def read(path: str) -> onnx.ModelProto:
    """The model in a file, or in standard input, without external data."""
    if os.path.isdir(path):
        raise WrongCall(f"{path}: is a folder, not a model")
    try:
        model = read_model(read_bytes() if path == STANDARD else path)
    except OSError as error:
        raise failure(path, error) from None
    except NoModelError as error:
        raise WrongCall(str(error).replace("the bytes", "standard input", 1)) from None
    return model


def demo_model() -> onnx.ModelProto:
    """The model of `--demo`: a convolution stem and an attention block. It is valid; its weights are zeros."""
    import onnx.parser

    model = onnx.parser.parse_model(_DEMO)
    for name, dims in _WEIGHTS.items():
        model.graph.initializer.add(
            name=name, dims=dims, data_type=onnx.TensorProto.FLOAT, raw_data=bytes(4 * prod(dims))
        )
    return model


def check_target(path: str, *others: str | None) -> None:
    """Check that a file can be written there, and is no other file of the call, before any other work."""
    if path == STANDARD:
        return
    if any(same_path(path, other) for other in others if other is not None and other != STANDARD):
        raise WrongCall(f"{path}: is given twice, and one of the two files would be lost")
    if os.path.isdir(path):
        raise WrongCall(f"{path}: is a directory, not the name of a file")
    if not os.path.isdir(folder := os.path.dirname(os.path.abspath(path))):
        raise WrongCall(f"{path}: there is no directory {folder}")


def write(model: onnx.ModelProto, source: str | None, target: str, copy_data: bool) -> None:
    """Write a model that was read from `source` (None: a model without a file), and keep its external data in reach."""
    try:
        if target == STANDARD:
            write_bytes(model.SerializeToString())
        else:
            save_model(model, "stdin" if source == STANDARD else source, target, copy_data)  # data of this folder
    except OSError as error:
        raise failure(target, error) from None
    except ExternalDataError as error:
        raise WrongCall(str(error).replace("copy_data=True", "--copy-data")) from None
    except (ValueError, EncodeError) as error:  # more than 2 GB, or bytes in a text format
        raise WrongCall(f"{target}: {error}") from None


def write_text(text: str, target: str, model: onnx.ModelProto, source: str | None) -> None:
    """Write a text about a model that was read from `source`: a file is written completely or not at all."""
    content = text.encode("utf-8")
    try:
        if target == STANDARD:
            write_bytes(content)
        else:
            check_data_stay(model, source or "", target)
            write_whole(Path(os.path.realpath(target)), lambda file: file.write(content))
    except OSError as error:
        raise failure(target, error) from None
    except ExternalDataError as error:
        raise WrongCall(str(error)) from None


def failure(path: str, error: OSError) -> WrongCall:
    """The message for an error of the operating system."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else path
    return WrongCall(f"{'standard input' if name == STANDARD else name}: {error.strerror or error}")
