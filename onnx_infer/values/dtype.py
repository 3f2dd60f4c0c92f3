"""Element types: the numbers of `TensorProto.DataType`, their short names, integer ranges (ONNX IR specification)."""

from __future__ import annotations

# number: (short name, bits of one element; 0 for a varying size)
_TYPES: dict[int, tuple[str, int]] = {
    1: ("f32", 32), 2: ("u8", 8), 3: ("i8", 8), 4: ("u16", 16), 5: ("i16", 16), 6: ("i32", 32), 7: ("i64", 64),
    8: ("str", 0), 9: ("bool", 8), 10: ("f16", 16), 11: ("f64", 64), 12: ("u32", 32), 13: ("u64", 64),
    14: ("c64", 64), 15: ("c128", 128), 16: ("bf16", 16), 17: ("f8e4m3fn", 8), 18: ("f8e4m3fnuz", 8),
    19: ("f8e5m2", 8), 20: ("f8e5m2fnuz", 8), 21: ("u4", 4), 22: ("i4", 4), 23: ("f4e2m1", 4), 24: ("f8e8m0", 8),
    25: ("u2", 2), 26: ("i2", 2), 27: ("f6e2m3", 6), 28: ("f6e3m2", 6),
}  # fmt: skip

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64 = range(1, 14)
COMPLEX64, COMPLEX128, BFLOAT16 = 14, 15, 16

NAMES = {number: name for number, (name, _) in _TYPES.items()}
NUMBERS = {name: number for number, name in NAMES.items()}
BITS = {number: bits for number, (_, bits) in _TYPES.items()}

# The spelling of type strings in operator schemas: tensor(float), tensor(int64) ...
_SCHEMA_WORDS = {
    1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
    10: "float16", 11: "double", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
    17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2", 27: "float6e2m3", 28: "float6e3m2",
}  # fmt: skip
FROM_SCHEMA = {word: number for number, word in _SCHEMA_WORDS.items()}


def _range(name: str, bits: int) -> tuple[int, int]:
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


INTEGER_RANGE = {n: _range(name, bits) for n, (name, bits) in _TYPES.items() if name[0] in "ui"}
SIGNIFICAND = {FLOAT: 24, DOUBLE: 53, FLOAT16: 11}
EXPONENT = {FLOAT: 126, DOUBLE: 1022, FLOAT16: 14}
"""The bits of the whole numbers that a float type holds exactly, and a power of two that it holds (IEEE 754)."""
FLOATS = frozenset(n for n, name in NAMES.items() if name[0] == "f" or name == "bf16")


def read(number: int) -> int | None:
    """The element type for a number in a message; None for 0 (undefined) and for negative numbers.

    Numbers of types that are newer than this library are kept.
    """
    return number if number > 0 else None


def text(dtype: int | None) -> str:
    """The short name of an element type, `?` if it is unknown.

    >>> text(1), text(7), text(None)
    ('f32', 'i64', '?')
    """
    return "?" if dtype is None else NAMES.get(dtype, f"dtype{dtype}")
