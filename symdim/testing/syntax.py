"""Texts that are also Python, as syntax trees. Threads read them one after the other.

CPython counts the depth of all syntax trees that it makes at a time in one number. If a collection of garbage
interrupts one thread and another one makes a tree meanwhile, `ast.parse` raises SystemError ("recursion depth
mismatch", in all versions of Python 3.11).
"""

from __future__ import annotations

import ast
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_READING = Lock()


def expression_of(text: str) -> ast.Expression:
    """The syntax tree of an expression. Raises SyntaxError, ValueError, RecursionError or MemoryError as `ast.parse`.

    >>> type(expression_of("N // 2").body).__name__
    'BinOp'
    """
    with _READING:
        return ast.parse(text, mode="eval")


def literal_of(text: str) -> Any:
    """The value of a Python literal. Raises the errors of `ast.literal_eval`.

    >>> literal_of(" [1, 'a']")
    [1, 'a']
    """
    return ast.literal_eval(expression_of(text.lstrip(" \t")))
