"""The subscripts of NumPy's and ONNX's einsum, read as nodes of our own language."""

from __future__ import annotations

import re

from symdim.einsum.spec import Label, RowSpec, ShapeSpec, Spec
from symdim.errors import ParseError

_LEXEME = re.compile(r"\s*(->|\.\.\.|,|[A-Za-z]|\S|$)")


def parse_subscripts(text: str) -> Spec:
    """The specification that an equation of NumPy or ONNX denotes. Sizes of 1 are stretched.

    equation = [labels {"," labels} ["->" labels]];  labels = {letter} ["..." {letter}]

    Without `->` the result has the axes of the ellipsis, then the labels that occur once, in alphabetical order. Raises
    ParseError, which shows the place; also for a label that occurs twice in the result, or in no operand, and for an
    ellipsis that only the result has.

    >>> print(parse_subscripts("ij,jk"), parse_subscripts("b...ij, b...jk -> ...ik"), parse_subscripts("ii"))
    ij,jk->ik b...ij,b...jk->...ik ii->
    """
    shapes: list[list[str]] = [[]]
    arrow: int | None = None
    position = 0
    while True:
        match = _LEXEME.match(text, position)
        assert match is not None  # the pattern matches any text
        lexeme, start, position = match[1], match.start(1), match.end()
        if not lexeme:
            break
        if lexeme == "->" and arrow is None:
            arrow = start
            shapes.append([])
        elif lexeme == "," and arrow is None:
            shapes.append([])
        elif lexeme == "..." and "..." in shapes[-1]:
            raise ParseError(text, start, "an operand has at most one ellipsis")
        elif lexeme == "..." or (lexeme.isascii() and lexeme.isalpha()):
            if arrow is not None:
                _check_result(text, start, lexeme, shapes)
            shapes[-1].append(lexeme)
        else:
            raise ParseError(text, start, f"{lexeme!r} is not a subscript")
    result = _implicit(shapes) if arrow is None else shapes.pop()
    return Spec(tuple(_shape(labels) for labels in shapes), _shape(result), multi=False, broadcasts=True)


def _check_result(text: str, position: int, lexeme: str, shapes: list[list[str]]) -> None:
    *operands, result = shapes
    if lexeme in result:
        raise ParseError(text, position, f"{lexeme!r} occurs twice in the result")
    if not any(lexeme in labels for labels in operands):
        raise ParseError(text, position, f"{lexeme!r} of the result occurs in no operand")


def _implicit(operands: list[list[str]]) -> list[str]:
    every = [label for labels in operands for label in labels]
    once = sorted(label for label in set(every) if label != "..." and every.count(label) == 1)
    return (["..."] if "..." in every else []) + once


def _shape(labels: list[str]) -> ShapeSpec:
    axes = [Label(label) for label in labels if label != "..."]
    if "..." not in labels:
        return ShapeSpec(output=RowSpec(trail=tuple(axes)))
    place = labels.index("...")
    return ShapeSpec(output=RowSpec(tuple(axes[:place]), "output", tuple(axes[place:])))
