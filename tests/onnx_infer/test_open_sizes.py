"""Data-dependent sizes: between which bounds the rule of a node puts them."""

from __future__ import annotations

import pytest

from onnx_infer import SymTensor
from onnx_infer.testing import infer_node, read_attributes, read_value, split
from symdim import Var

# operator, version and attributes; the inputs; the sizes of the outputs, an open one between its bounds
NODES = [
    ("GatherElements-13(axis=1)", "f32[N, 3], i64[...]", "0..N 0..?"),
    ("GatherElements-13(axis=-2)", "f32[N, 3], i64[...]", "0..? 0..3"),
    ("StringSplit-20(maxsplit=2)", "str[N]", "N 0..3"),
    ("StringSplit-20(maxsplit=0)", "str[N]", "N 0..1"),
    ("StringSplit-20(maxsplit=-1)", "str[N]", "N 0..?"),
    ('StringNormalizer-10(stopwords=["a"])', "str[C]", "1..C"),
    ('StringNormalizer-10(stopwords=["a"])', "str[1, 1]", "1 1"),
    ('StringNormalizer-10(stopwords=["a"])', "str[2]", "1..2"),
    ("StringNormalizer-10", "str[C]", "C"),
    ("ReduceSum-13(keepdims=0)", "f32[N, M], i64[1]", "1..max(M, N)"),
    ("ReduceSum-13(keepdims=0)", "f32[N, M - 1], i64[1]", "0..max(M, N + 1) - 1"),
    ("ReduceSum-13", "f32[N, 1, 2, M - 1], i64[1]", "1..N 1 1..2 0..max(M, 2) - 1"),
    ("ReduceSum-13", "f32[N, M], i64[2]={0, ?}", "1 1..M"),
    ("Compress-11(axis=0)", "f32[N, M], bool[3]={True, ?, False}", "0..min(N, 2) M"),
    ("Compress-11(axis=0)", "f32[N, M], bool[3]={True, False, True}", "min(max(N, 2), 3) - 1 M"),
    ("Compress-11(axis=0)", "f32[N, M], bool[K]", "0..min(K, N) M"),
    ("Compress-11", "f32[...], bool[4]={True, ?, False, False}", "0..2"),
    ("STFT-17", "f32[B, L, 1], i64[], f32[W]", "B 0..L W//2 + 1 2"),
    ("Squeeze-13", "f32[N, M, 3], i64[1]={?}", "1..max(M, N) 3"),
    ("Squeeze-13", "f32[N - 1, 2, 1], i64[1]={?}", "0..max(N, 3) - 1 1..2"),
    ("Squeeze-13", "f32[N - M, 2, 1], i64[1]={?}", "0..max(N - M, 2) 1..2"),
    ("Squeeze-13", "f32[N, 1], i64[1]={?}", "N"),
    ("Squeeze-13", "f32[1, N], i64[1]={?}", "N"),
    ("Squeeze-13", "f32[N, 1, 3], i64[1]={?}", "N 3"),
    ("com.microsoft.nchwc::ReorderInput-1", "f32[N, 24, H, W]", "N 0..39 H W"),
]


def between(size: object) -> str:
    """The size, or the bounds of one that is new."""
    if not isinstance(size, Var) or not size.name.startswith("_"):
        return str(size)
    return f"{size.lo}..{size.at_most if size.at_most is not None else '?' if size.hi is None else size.hi}"


@pytest.mark.parametrize(("head", "inputs", "expected"), NODES)
def test_bounds(head: str, inputs: str, expected: str) -> None:
    call, _, attributes = head.removesuffix(")").partition("(")
    title, version = call.split("-")
    domain, _, name = title.rpartition("::")
    outputs = 2 if name == "StringSplit" else 1
    operands = [read_value(text) for text in split(inputs)]
    (found, *_) = infer_node(
        name, operands, read_attributes(attributes), version=int(version), domain=domain, output_count=outputs
    )
    assert isinstance(found, SymTensor)
    assert " ".join(map(between, found.dims)) == expected
