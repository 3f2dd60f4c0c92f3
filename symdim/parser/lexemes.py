r"""The lexemes of dimension texts.

    function = name ["[f32]" | "[f64]"]                  where "(" follows
    name     = letter {letter | digit | "_" | "."}       letter: of any script, or "_"
    operator = "**" | "//"                               and "/:" in the dialect of onnx-light
    number   = (digits ["." {digit}] | "." digits) [("e" | "E") ["+" | "-"] digits]
    quoted   = "`" {any but "`" | "``"} "`"  |  '"' {any but '"'} '"'
    word     = any other run of letters, digits, "_", "." and ":"       16H, a:b
    symbol   = any other character

Declared names may contain nearly any character. Those that are not a `name` are recognised first, the longest before
the shorter ones, and only if a lexeme ends there. The time to split a text is linear in its length.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, get_args

from symdim.algebra.caches import remembered
from symdim.algebra.named_tuple import NamedTuple
from symdim.errors import SymdimError

Dialect: TypeAlias = Literal["exact", "floor", "onnx-light", "trunc"]

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NAME = r"[^\W\d][\w.]*"
_FUNCTION = rf"{_NAME}(?:\[f(?:32|64)\])?"
_LEXEME = (
    rf"""{_NAME}(?:\[f(?:32|64)\](?=\s*\()|(?![\w.:]))|\*\*|//|{_NUMBER}(?![\w.:])|[\w.:]+"""
    r"""|`(?:[^`]|``)*`(?!`)|"[^"]*"|."""
)

is_name = re.compile(_NAME).fullmatch
is_function = re.compile(_FUNCTION).fullmatch
is_number = re.compile(_NUMBER).fullmatch
_is_bare = re.compile(r"""(?!\s)(?:[^-+*/%^(),`"]|\b[-/]\b)+(?<!\s)""").fullmatch
_is_word = re.compile(r"[\w.:]+(?:[-/][\w.:]+)*").fullmatch


class Lexicon(NamedTuple):
    """How a text is split if `names` are declared: `pattern` matches blanks and a lexeme (its first group)."""

    names: frozenset[str]
    pattern: re.Pattern[str]

    def split(self, text: str) -> list[str]:
        """The lexemes of a text."""
        return self.pattern.findall(text.rstrip())

    def starts(self, text: str) -> list[int]:
        """The positions at which the lexemes start."""
        return [match.start(1) for match in self.pattern.finditer(text.rstrip())]


def stands_bare(name: str) -> bool:
    """Whether a declared name that is not a `name` is recognised without quotes inside a longer expression.

    It is not if it contains an operator, a parenthesis, a comma or a quote, or is a number: with "N + 1" declared,
    `2*N + 1` would have two meanings. A dash or slash between word characters is not an operator.
    """
    return is_name(name) is None and _is_bare(name) is not None and is_number(name) is None


def is_word(text: str, dialect: Dialect | None) -> bool:
    """Whether a text has only word characters, dots, colons, inner dashes and slashes: `batch-size`, `16H`, `a/b`.

    A text with the operator "/:" is no word.
    """
    return _is_word(text) is not None and not (dialect == "onnx-light" and "/:" in text)


@remembered(64)
def lexicon(names: frozenset[str], dialect: Dialect | None = None) -> Lexicon:
    """The lexicon for a set of declared names in a dialect; kept for the 64 used last.

    Raises SymdimError for an unknown dialect.
    """
    if dialect is not None and dialect not in get_args(Dialect):
        raise SymdimError(f"no dialect is named {dialect!r}; choose one of {', '.join(map(repr, get_args(Dialect)))}")
    bare = sorted((name for name in names if stands_bare(name)), key=lambda name: (-len(name), name))
    declared = "".join(f"{re.escape(name)}{_end_of(name)}|" for name in bare)
    operator = "/:|" if dialect == "onnx-light" else ""
    return Lexicon(names, re.compile(rf"\s*({declared}{operator}{_LEXEME})", re.DOTALL))


def _end_of(name: str) -> str:
    """The pattern for the end of a name. A word ends with its word characters: "my seq" is not in `my seq_len`."""
    return r"(?![\w.:])" if re.match(r"[\w.:]", name[-1]) else ""


def unquote(lexeme: str) -> str:
    """The name inside backticks (a doubled backtick stands for one), or inside double quotes."""
    return lexeme[1:-1].replace("``", "`") if lexeme[0] == "`" else lexeme[1:-1]
