"""The language of einsum specifications. Each production is the docstring of the method that reads it.

    a, b; b, c => a, c           matrix product                  ij; jk => ik       the same with names of one character
    ... | h, d => ... | d, h     any batch axes                  ..r.., a => a      any axes named r, summed away
    2*o<+k; k => o               convolution with stride 2       o=+2*k; k => o     size-preserving, dilation 2
    a; b => a^b                  concatenation                   a^b => b           its inverse
    i, 0 => i                    the first column                i => i, i          a diagonal

`batch | input -> output` are the three rows of a tensor; a usual tensor has only the last one. If one of the signs
`, * + ^ & <` or a bare `=` occurs in the text, names may have several characters, and commas separate them. Otherwise
every letter is a name.

At the end, the subscripts of NumPy's and ONNX's einsum are read as nodes of this language.
"""

from __future__ import annotations

import re
from typing import NoReturn

from symdim.algebra.named_tuple import NamedTuple
from symdim.einsum.spec import (
    AffineIndex,
    Axis,
    Concatenation,
    FixedIndex,
    Label,
    RowSpec,
    ShapeSpec,
    Spec,
    is_multi,
    labels_of,
)
from symdim.errors import ParseError

_LEXEME = r"\s*(?:\.\.\s*([^\W\d]\w*)\s*,?\s*\.\.(?!\.)|(=>|->|\.\.\.|\.\.|[;|,*+^<=]|\d+|%s|\S|$))"
_LEXEMES = {True: re.compile(_LEXEME % r"[^\W\d]\w*"), False: re.compile(_LEXEME % r"[^\W\d]")}
_ROW_ENDS = ("", "|", "->", ";", "=>")
_MAX_DIGITS = 18


class NameClash(ParseError):  # noqa: N818
    """A name is used for an axis and for a row."""


class _Lexeme(NamedTuple):
    text: str
    position: int
    row: str | None = None  # the name of a row variable; "..." for one without a name

    @property
    def is_name(self) -> bool:
        return self.row is None and self.text.isidentifier()

    @property
    def is_number(self) -> bool:
        return self.text.isdecimal()

    @property
    def value(self) -> int | str:
        """A number as an int, a name as a string."""
        return int(self.text) if self.is_number else self.text


def _lexemes(text: str, multi: bool) -> list[_Lexeme]:
    """The lexemes of a text; the last one is empty."""
    lexemes: list[_Lexeme] = []
    position = 0
    while not lexemes or lexemes[-1].text:
        match = _LEXEMES[multi].match(text, position)
        assert match is not None  # the pattern matches any text
        row, other = match.groups()
        start = match.start(1) - 2 if row else match.start(2)
        lexemes.append(_Lexeme(match[0].strip(), start, row or ("..." if other == "..." else None)))
        if lexemes[-1].is_number and len(lexemes[-1].text) > _MAX_DIGITS:
            raise ParseError(text, start, f"a number of more than {_MAX_DIGITS} digits")
        position = match.end()
    return lexemes


def parse_spec(text: str) -> Spec:
    """The specification that a text denotes. A text without `=>` is the pattern of one shape.

    Raises ParseError, which shows the place, and NameClash for a name that is used for an axis and for a row.

    >>> spec = parse_spec("... | 2*oh<+kh, ic; kh, ic -> oc => ... | oh, oc")
    >>> spec.labels(), spec.row_variables(), str(parse_spec("ij;jk=>ik"))
    (('oh', 'kh', 'ic', 'oc'), ('batch',), 'ij; jk => ik')
    >>> print(parse_spec("2*o<+ => o"))
    Traceback (most recent call last):
    symdim.errors.ParseError: an offset, a dilation or the name of a kernel is missing at position 6
        2*o<+ => o
              ^
    """
    return _Reader(text).spec()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.multi = is_multi(text)
        self.lexemes = _lexemes(text, self.multi)
        self.next = 0
        self.rows: dict[str, int] = {}  # the names of rows so far -> their positions
        self.axes: dict[str, int] = {}

    def spec(self) -> Spec:
        """spec = [shape {";" shape} "=>"] shape"""
        shapes = [self.shape()]
        while self.accept(";"):
            shapes.append(self.shape())
        if len(shapes) > 1 and self.peek.text != "=>":
            self.refuse('"=>" and the result are missing')
        operands = None
        if self.accept("=>"):
            operands, shapes = tuple(shapes), [self.shape()]
        if self.peek.text:
            self.refuse(f"{self.peek.text!r} is not expected")
        if clash := next((name for name in self.rows if name in self.axes), None):
            position = max(self.rows[clash], self.axes[clash])
            raise NameClash(self.text, position, f"{clash!r} is the name of an axis and of a row")
        return Spec(operands, shapes[0], self.multi)

    def shape(self) -> ShapeSpec:
        """shape = [row "|"] [row "->"] row"""
        rows = {"output": self.row()}
        if self.accept("|"):
            rows = {"batch": rows["output"], "output": self.row()}
        if self.accept("->"):
            rows["input"] = rows["output"]
            rows["output"] = self.row()
        for kind, (row, position) in rows.items():
            if row.variable is not None:
                name = kind if row.variable == "..." else row.variable
                rows[kind] = (row._replace(variable=name), position)
                self.rows.setdefault(name, position)
        return ShapeSpec(**{kind: row for kind, (row, _) in rows.items()})

    def row(self) -> tuple[RowSpec, int]:
        """row = [axes] [row_variable [","] [axes]];  row_variable = "..." | ".." name ".."

        At most one row variable. `...` has the name of its kind: batch, input or output.
        """
        lead = self.axis_list()
        lexeme = self.peek
        if lexeme.row is None:
            return RowSpec((), None, lead), lexeme.position
        self.advance()
        self.accept(",")
        row = RowSpec(lead, lexeme.row, self.axis_list())
        if self.peek.row is not None:
            self.refuse("a row has at most one row variable")
        return row, lexeme.position

    def axis_list(self) -> tuple[Axis, ...]:
        """axes = axis {"," axis} [","]        commas only where names have several characters; there they must be"""
        axes: list[Axis] = []
        separated = True
        while self.peek.row is None and self.peek.text not in _ROW_ENDS:
            if self.multi and not separated:
                self.refuse("a comma is missing between two axes")
            position = self.peek.position
            axes.append(self.axis())
            for name in labels_of(axes[-1]):
                self.axes.setdefault(name, position)
            separated = self.accept(",")
        return tuple(axes)

    def axis(self) -> Axis:
        """axis = number | name | affine | concatenation

        A number is a fixed index.
        """
        lexeme = self.advance()
        if not (lexeme.is_name or lexeme.is_number):
            self.refuse(f"an axis is missing before {lexeme.text!r}", lexeme)
        if self.peek.text == "^":
            return self.concatenation(lexeme)
        if lexeme.is_number and self.peek.text != "*":
            return FixedIndex(int(lexeme.text))
        if self.peek.text in ("*", "=", "<", "+"):
            return self.affine(lexeme)
        return Label(lexeme.text)

    def concatenation(self, first: _Lexeme) -> Concatenation:
        """concatenation = part "^" part {"^" part};  part = name | number        a number is a part without a name"""
        parts: list[str | int] = [first.value]
        while self.accept("^"):
            lexeme = self.advance()
            if not (lexeme.is_name or lexeme.is_number):
                self.refuse("a part of the concatenation is missing", lexeme)
            parts.append(lexeme.value)
        return Concatenation(tuple(parts))

    def affine(self, first: _Lexeme) -> AffineIndex:
        """affine = [factor "*"] name ["=" | "<"] ["+" number] ["+" [factor "*"] name];  factor = number | name

        Stride, label, padding ("=": the size is kept, "<": valid), offset, dilation and kernel. Strides and dilations
        are positive. A missing padding is reported when the specification is used.
        """
        stride: int | str = 1
        if self.accept("*"):
            stride, first = self.factor(first), self.name("the name of an axis is missing")
        padding = True if self.accept("=") else False if self.accept("<") else None
        if not self.accept("+"):
            return AffineIndex(first.text, stride, padding=padding)
        offset = 0
        lexeme = self.advance()
        if lexeme.is_number and self.peek.text != "*":
            offset = int(lexeme.text)
            if not self.accept("+"):
                return AffineIndex(first.text, stride, offset, padding=padding)
            lexeme = self.advance()
        dilation: int | str = 1
        if self.accept("*"):
            dilation, lexeme = self.factor(lexeme), self.advance()
        if not lexeme.is_name:
            self.refuse("an offset, a dilation or the name of a kernel is missing", lexeme)
        return AffineIndex(first.text, stride, offset, lexeme.text, dilation, padding)

    def factor(self, lexeme: _Lexeme) -> int | str:
        """factor = number | name"""
        if not (lexeme.is_name or lexeme.is_number):
            self.refuse("a stride or dilation is missing", lexeme)
        if lexeme.value == 0:
            self.refuse("a stride or dilation is at least 1", lexeme)
        return lexeme.value

    def name(self, message: str) -> _Lexeme:
        lexeme = self.advance()
        if not lexeme.is_name:
            self.refuse(message, lexeme)
        return lexeme

    @property
    def peek(self) -> _Lexeme:
        return self.lexemes[self.next]

    def accept(self, text: str) -> bool:
        is_next = self.peek.text == text
        self.next += is_next
        return is_next

    def advance(self) -> _Lexeme:
        lexeme = self.peek
        self.next += bool(lexeme.text)
        return lexeme

    def refuse(self, message: str, lexeme: _Lexeme | None = None) -> NoReturn:
        raise ParseError(self.text, (lexeme or self.peek).position, message)


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
    has_result = False
    for lexeme, start, _ in _lexemes(text, multi=False)[:-1]:
        if lexeme in ("->", ",") and not has_result:
            has_result = lexeme == "->"
            shapes.append([])
        elif lexeme == "..." and "..." in shapes[-1]:
            raise ParseError(text, start, "an operand has at most one ellipsis")
        elif lexeme == "..." or (lexeme.isascii() and lexeme.isalpha()):
            if has_result and lexeme in shapes[-1]:
                raise ParseError(text, start, f"{lexeme!r} occurs twice in the result")
            if has_result and not any(lexeme in labels for labels in shapes[:-1]):
                raise ParseError(text, start, f"{lexeme!r} of the result occurs in no operand")
            shapes[-1].append(lexeme)
        else:
            raise ParseError(text, start, f"{lexeme!r} is not a subscript")
    result = shapes.pop() if has_result else _implicit(shapes)
    return Spec(tuple(_shape(labels) for labels in shapes), _shape(result), multi=False, broadcasts=True)


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
