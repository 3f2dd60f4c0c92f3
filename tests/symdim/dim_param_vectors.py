"""The test vectors of `docs/dim_param.md`: `python -m tests.symdim.dim_param_vectors` answers them anew.

The texts, the declared names, the dialects and the sizes are written by hand; the answers come from symdim. A second
reader that knows only the document gives them too (`test_second_reader.py`).
"""

from __future__ import annotations

import json
from functools import partial
from math import floor
from pathlib import Path
from typing import Any, TypeAlias

from onnx_infer.model.size_texts import said
from symdim import DivisionByZero, Expr, ParseError, Var, parse, read_dim_param
from symdim.algebra.application import Function
from symdim.algebra.evaluate import applications_in
from symdim.errors import UnboundFunction

PATH = Path(__file__).parents[2] / "docs" / "dim_param_vectors.json"

Vector: TypeAlias = dict[str, Any]

KINDS = {
    "function": ("does not take", "no function of floats"),
    "value": (
        "zero",
        "outside of floor()",
        "exponent",
        "need not be an integer",
        "a float is not a size",
        "is a quotient",
        "no finite value",
        "beyond all floats",
    ),
}
"""Kinds of errors by words in their messages. All others are of the kind "syntax"."""


def load() -> Vector:
    """The file."""
    content: Vector = json.loads(PATH.read_text(encoding="utf-8"))
    return content


def answered(vector: Vector) -> Vector:
    """A vector with what symdim says of its text. No canonical text is added where the file gives none."""
    text, declared = vector["text"], vector.get("declared")
    answer = {key: vector[key] for key in ("group", "text", "declared", "dialect") if key in vector}
    try:
        if declared is None:
            dim = parse(text, dialect=vector.get("dialect"))
        elif said(text) is None:
            return answer | {"reads": "nothing"}
        else:
            dim = read_dim_param(text, declared, dialect=vector.get("dialect"))
    except ParseError as error:
        kind = next((kind for kind, words in KINDS.items() if any(w in error.message for w in words)), "syntax")
        return answer | {"reads": "error", "kind": kind}
    answer["reads"] = "name" if isinstance(dim, Var) and dim.name == text else "expression"
    if "canonical" in vector:
        answer["canonical"] = str(dim)
    answer["values"] = [[sizes, value_of(dim, sizes)] for sizes, _ in vector["values"]]
    return answer


def value_of(dim: int | Expr, sizes: dict[str, int]) -> int | None:
    """The value at these sizes; None where a divisor is 0, or a root is no integer."""
    if isinstance(dim, int):
        return dim
    functions = {node.function for node in applications_in([dim]) if node.function.meaning is None}
    try:
        return dim.to_int(sizes | {function: partial(value_of_unknown, function) for function in functions})
    except (DivisionByZero, UnboundFunction):
        return None


def value_of_unknown(function: Function, *arguments: Any) -> int:
    """What a function without a meaning gives in the vectors."""
    return len(str(function)) + sum((i + 1) * floor(x) for i, x in enumerate(arguments))


def write(content: Vector) -> None:
    """Write the file, each vector in one line."""
    vectors = ",\n".join("  " + json.dumps(vector, ensure_ascii=False) for vector in content["vectors"])
    head = {key: value for key, value in content.items() if key != "vectors"}
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    PATH.write_text(f'{lines},\n "vectors": [\n{vectors}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    content = load()
    content["vectors"] = [answered(vector) for vector in content["vectors"]]
    write(content)
