"""Exact algebra of symbolic dimensions.

A dimension is an int or an expression in variables. Expressions are in canonical form: equal forms are one object.

>>> from symdim import symbols, maximum, minimum, ceildiv
>>> B, S, H = symbols("B S H")
>>> (H + 2 * 1 - 3) // 2 + 1
(H + 1)//2
>>> (6 * B * S) // (2 * B), 4 * (H // 4) + H % 4 is H
(3*S, True)
>>> minimum(S, 512) + maximum(S, 512), maximum(S, 1), ceildiv(H, 4)
(S + 512, S, (H + 3)//4)
>>> (B * S + H % 4).evaluate(H=7), (B * S).to_int(B=2, S=3)
(B*S + 3, 6)
>>> (H // 2 + 1).bounds(), (B * S + H).substitute({"S": 2 * H})
((1, None), 2*B*H + H)
>>> (H % 4).tree()
Operation(operator='%', operands=(H, 4))

`__all__` has the names that most programs need. Others are public in their files: `errors`, `guarantee`, `prove`,
`rows`, `shape`, `store` and `einsum`.

The files on this level are what a user imports. The work is in rooms; each has its own map in its `__init__`. A room
uses only rooms above it:

    errors.py        the exceptions
    algebra/         expressions in canonical form: simplification is here, where they are built
    relations/       relations of sizes, solved for a variable
    parser/          from text to expressions                 parsing.py        its face: parse, check
    outputs.py       tables for notebooks, and files
    shape.py         shapes of known rank                     compile.py        expressions as Python functions
    prover/          three answers to a question              prove.py, facts.py    its faces
    guarantee.py     exact sizes and upper bounds
    dialects/        functions of other programs, and expressions in their languages
    store/           constraints and their consequences       rows.py           shapes of unknown rank
    einsum/          einsum specifications, both ways
    vendoring.py     a copy of the core for another project
    __main__.py      the command `python -m symdim`
"""

from __future__ import annotations

from symdim.errors import BoundsError, DivisionByZero, ParseError, SymdimError, UnboundName

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.bindings import Bindings as Bindings
    from symdim.algebra.caches import clear_caches
    from symdim.algebra.canonical import ceildiv, maximum, minimum, product
    from symdim.algebra.canonical import total as total
    from symdim.algebra.expr import Add, Expr, FloorDiv, Max, Min, Mul
    from symdim.algebra.variable import Scope, Var, dynamic, symbols
    from symdim.compile import compile_shape
    from symdim.dialects.functions import MEANINGS as MEANINGS
    from symdim.dialects.functions import sqrt
    from symdim.dialects.sympy_expressions import from_sympy, to_sympy
    from symdim.dialects.texts import text_in
    from symdim.dialects.trees import from_tree as from_tree
    from symdim.dialects.trees import to_tree as to_tree
    from symdim.facts import Facts
    from symdim.guarantee import Guarantee, guarantee_of
    from symdim.parser.functions import function as function
    from symdim.parser.rational import Rational
    from symdim.parsing import check as check
    from symdim.parsing import parse, read_dim_param
    from symdim.prove import at_least, divides, equal, explain
    from symdim.prover.simplification import simplify
    from symdim.relations.relation import Relation
    from symdim.rows import Row
    from symdim.shape import Dim, Shape, broadcast_shapes
    from symdim.store import Contradiction, Guard, Reasoning, Store

__all__ = [  # noqa: RUF022  (in groups)
    # sizes, and the kinds of nodes
    "Dim", "Expr", "Scope", "Var", "dynamic", "symbols",
    "Add", "FloorDiv", "Max", "Min", "Mul",
    "Rational", "ceildiv", "maximum", "minimum", "product", "sqrt",
    # texts, and other programs
    "from_sympy", "parse", "read_dim_param", "text_in", "to_sympy",
    # questions, and what is known
    "Facts", "Guarantee", "Relation", "at_least", "divides", "equal", "explain", "guarantee_of", "simplify",
    # shapes
    "Row", "Shape", "broadcast_shapes", "compile_shape",
    # constraints
    "Contradiction", "Guard", "Reasoning", "Store",
    # errors, and memory
    "BoundsError", "DivisionByZero", "ParseError", "SymdimError", "UnboundName", "clear_caches",
]  # fmt: skip

_MODULES = {
    "algebra.bindings": "Bindings",
    "algebra.caches": "clear_caches",
    "algebra.canonical": "ceildiv maximum minimum product total",
    "algebra.expr": "Add Expr FloorDiv Max Min Mul",
    "algebra.variable": "Scope Var dynamic symbols",
    "compile": "compile_shape",
    "dialects.functions": "MEANINGS sqrt",
    "dialects.sympy_expressions": "to_sympy from_sympy",
    "dialects.texts": "text_in",
    "dialects.trees": "from_tree to_tree",
    "facts": "Facts",
    "guarantee": "Guarantee guarantee_of",
    "parser.functions": "function",
    "parser.rational": "Rational",
    "parsing": "parse check read_dim_param",
    "prove": "at_least divides equal explain",
    "prover.simplification": "simplify",
    "relations.relation": "Relation",
    "rows": "Row",
    "shape": "Dim Shape broadcast_shapes",
    "store": "Contradiction Guard Reasoning Store",
}
"""Module -> the names in it, which are loaded on first use. Seven of them are not listed above."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A public name or module. It is loaded now, because a program that only prints its options needs no algebra."""
    if name in _MODULE_OF:
        from importlib import import_module

        module = import_module(f"symdim.{_MODULE_OF[name]}")
        value = globals()[name] = getattr(module, name)
        return value
    if name in ("prove", "einsum"):
        from importlib import import_module

        return import_module(f"symdim.{name}")
    raise AttributeError(f"module 'symdim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
