"""The arithmetic of `onnx_ir.SymbolicDim` without SymPy.

    >>> from onnx_infer.integrations import symbolic_dim
    >>> import onnx_ir as ir
    >>> with symbolic_dim.installed():
    ...     H = ir.SymbolicDim("H")
    ...     (H + 2 * 1 - 3) // 2 + 1, H * 4 // 4, ir.Shape(["N", H % 4 + 1]).evaluate({"H": 7})
    (SymbolicDim('floor(H/2 + 1/2)'), SymbolicDim('H'), Shape([SymbolicDim('N'), 4]))

The texts are those that SymPy prints, with ceilings as they are written; `simplify` gives the canonical form. A dim is
identified by its text, as in onnx_ir. One that is computed holds its value, and gets its text when somebody asks for
it: most steps of a computation are never printed. What a text denotes is remembered in a cache of this module. So dims
stay valid when the arithmetic is changed, either way.

Variables are sizes of at least 0. SymPy's symbols in onnx_ir are positive: there `Max(N, 1)` is N, and here it stays.

SymPy is loaded when `_expr` is asked for, or an expression of SymPy is given. Import this module before `onnx_ir`, and
onnx_ir is imported without it.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader
from operator import add, mod, mul, sub
from typing import TYPE_CHECKING, Any

from onnx_infer.integrations.replacing import Replacement, replace_members
from symdim import Expr, Rational, Var, to_sympy
from symdim.algebra.application import Function
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import substituted
from symdim.algebra.polynomials import terms_of
from symdim.dialects.sympy_texts import sympy_text
from symdim.errors import ParseError
from symdim.parser.functions import FUNCTIONS, Meaning
from symdim.parser.rational import Value, ceil, divide, floor, parts_of, trunc
from symdim.parsing import read_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.machinery import ModuleSpec


class _Lazily:
    """A finder that loads SymPy, and the file of onnx_ir that needs it, on first use."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in ("sympy", "onnx_ir._symbolic_shapes"):
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Lazily else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = LazyLoader(spec.loader)
                return spec
        return None


sys.meta_path.insert(0, _Lazily)
try:
    import onnx_ir as ir
except ImportError as error:
    raise ImportError("onnx_infer.integrations.symbolic_dim needs onnx-ir: pip install onnx-ir") from error
finally:
    sys.meta_path.remove(_Lazily)


def _written_floor(x: Value) -> int | Expr | None:
    """floor(x), but what is negative throughout stays as it is written: SymPy's ceilings are -floor(-N/2)."""
    a, _ = parts_of(x)
    whole = floor(x)
    if isinstance(a, int) or isinstance(whole, int) or not isinstance(x, Rational):
        return whole
    return None if all(k < 0 for k in terms_of(a)[0].values()) else whole


def _written_ceiling(x: Value) -> int | Expr | None:
    """ceiling(x), which stays as it is written."""
    whole = ceil(x)
    return None if isinstance(x, Rational) and isinstance(whole, Expr) else whole


def _above(x: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """The interval of a ceiling, from that of the floor."""
    low, high = x
    return low, None if high is None else high + 1


_floor = Function("floor", meaning=_written_floor, interval=lambda x: x)
_ceiling = Function("ceiling", meaning=_written_ceiling, interval=_above)
_CANONICAL = {_floor: Function("floor", meaning=floor), _ceiling: Function("ceiling", meaning=ceil)}
_FUNCTIONS = FUNCTIONS | {f.name: Meaning(f, 1, 1, exact=True) for f in (_floor, _ceiling)}
_values = shared_cache(1 << 13)


def _variable(name: str) -> Var:
    return Var(name, 0)


def _value_of(text: str) -> Value:
    """What a text denotes. A text without parentheses that is no expression is a name. Raises ParseError."""
    value: Value | None = _values.get(text)
    if value is None:
        try:
            value = read_value(text, _variable, _FUNCTIONS)
        except ParseError:
            if "(" in text or not text:
                raise
            value = _variable(text)
        _values[text] = value
    return value


_held: Any = vars(ir.SymbolicDim)["_value"]
"""The slot of a dim: its text, None, or the value that it is computed to and that nobody has printed yet."""


def _computed(dim: Any, value: Value) -> Any:
    """A dim of the same class with a value."""
    made = type(dim)(None)
    _held.__set__(made, value)
    return made


def _value_in(dim: Any) -> Value | None:
    """The value of a dim; None if nothing is known. Raises ParseError."""
    held = _held.__get__(dim)
    return _value_of(held) if isinstance(held, str) else held


def _text(dim: Any) -> str | None:
    """The text of a dim. That of a value is remembered as what it denotes."""
    held: Value | str | None = _held.__get__(dim)
    if held is None or isinstance(held, str):
        return held
    text = sympy_text(held)
    _values.setdefault(text, held)
    _held.__set__(dim, text)
    return text


def _quotient(x: Value, y: Value) -> Value:
    """x / y; a dimension if y divides x."""
    value = divide(x, y)
    a, b = parts_of(value)
    whole = a // b
    return whole if whole * b == a else value


def _names_in(value: Value) -> frozenset[str]:
    return frozenset() if isinstance(value, int) else frozenset(value.free_symbols())


def _substituted(value: Value, sizes: Mapping[Any, Any]) -> Value:
    return value.substitute(sizes) if isinstance(value, Rational) else substituted(value, sizes)


def _sympy_expression(text: str) -> Any:
    try:
        return ir._core._symbolic_shapes.parse_symbolic_expression(text)
    except ValueError:  # not a text that onnx_ir reads
        value = _value_of(text)
        return to_sympy(_substituted(value, {name: Var(name) for name in _names_in(value)}))


_OPERATORS: dict[str, Callable[[Any, Any], Value]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "floordiv": lambda x, y: _floor(_quotient(x, y)),
    "truediv": _quotient,
    "mod": mod,
}


class SymbolicDim(ir.SymbolicDim):  # type: ignore[misc]
    """A symbolic size of onnx_ir with the arithmetic of symdim. It may stand in any `onnx_ir.Shape`.

    It is made of a text, of None, of a dimension of symdim or a quotient, or of an expression of SymPy. Raises
    TypeError for an int.

    >>> N = SymbolicDim("N")
    >>> (N + 1) // 2 * 2, 2 * N / 2, N / 3, SymbolicDim(None) * 0
    (SymbolicDim('2*floor(N/2 + 1/2)'), SymbolicDim('N'), SymbolicDim('N/3'), SymbolicDim(None))
    >>> -(-N // 2), SymbolicDim("seq len") + 1, SymbolicDim("TruncToInt(N/2)") + 1
    (SymbolicDim('-floor(-N/2)'), SymbolicDim('`seq len` + 1'), SymbolicDim('floor(N/2) + 1'))
    >>> SymbolicDim("sqrt(N) + M").evaluate({"N": 16}), SymbolicDim("max(1, N//2)").evaluate({"N": 0})
    (SymbolicDim('M + 4'), 1)
    """

    __slots__ = ()

    _value = property(_text, lambda self, text: _held.__set__(self, text))

    def __init__(self, value: object) -> None:
        expression = None
        if isinstance(value, (Expr, Rational)):
            text: str | None = sympy_text(value)
        elif value is None or isinstance(value, str):
            text = value
        elif isinstance(value, int):
            raise TypeError("the value of a SymbolicDim is not an int: use the int itself in a Shape")
        elif any(base.__module__.startswith("sympy.") for base in type(value).__mro__):
            text, expression = str(value), value
        else:
            raise TypeError(f"a SymbolicDim is made of a text, None or an expression, not {type(value).__name__}")
        self._value = text
        self._expr_cache = expression  # type: ignore[misc]

    @property
    def _expr(self) -> Any:
        """The expression of SymPy, with positive symbols; None if nothing is known. Raises ValueError."""
        if self._expr_cache is None and self._value is not None:
            self._expr_cache = _sympy_expression(self._value)  # type: ignore[misc]
        return self._expr_cache

    def __neg__(self) -> Any:
        return self._rounded(lambda value: -value)

    def __floor__(self) -> Any:
        return self._rounded(_floor)

    def __trunc__(self) -> Any:
        return self._rounded(trunc)

    def __ceil__(self) -> Any:
        return self._rounded(_ceiling)

    def _rounded(self, function: Callable[[Any], Value]) -> Any:
        value = _value_in(self)
        return self if value is None else _computed(self, function(value))

    def simplify(self) -> Any:
        """The dim with its text in canonical form."""
        return self._rounded(lambda value: _substituted(value, _CANONICAL))

    def evaluate(self, bindings: Mapping[str, int]) -> Any:
        """The int for sizes by name; a dim if some have no size, or if the value is no integer.

        Raises BoundsError, a ValueError, for a negative size.
        """
        value = _value_in(self)
        if value is None:
            return self
        sizes = {name: int(bindings[name]) for name in _names_in(value) if name in bindings}
        substituted = _substituted(value, sizes)
        return substituted if isinstance(substituted, int) else _computed(self, substituted)

    def free_symbols(self) -> frozenset[str]:
        """The names in the text."""
        value = _value_in(self)
        return frozenset() if value is None else _names_in(value)


def _binary(operator: Callable[[Any, Any], Value], reflected: bool) -> Callable[[Any, object], Any]:
    def apply(self: Any, other: object) -> Any:
        operand: Value | None
        if isinstance(other, ir.SymbolicDim):
            operand = _value_in(other)
        elif isinstance(other, int):
            operand = int(other)
        else:
            return NotImplemented
        value = None if operand is None else _value_in(self)
        if value is None:
            return type(self)(None)
        return _computed(self, operator(operand, value) if reflected else operator(value, operand))

    return apply


for _name, _operator in _OPERATORS.items():
    setattr(SymbolicDim, f"__{_name}__", _binary(_operator, False))
    setattr(SymbolicDim, f"__r{_name}__", _binary(_operator, True))


# -- in place of SymPy ------------------------------------------------------------------------------------------------

_METHODS = {
    (ir.SymbolicDim, name): member
    for name, member in vars(SymbolicDim).items()
    if name not in ("__module__", "__doc__", "__slots__", "__static_attributes__", "__firstlineno__", "__annotations__")
    and name != "_value"
}


def _replace() -> Callable[[], None]:
    """Put the methods in place. What reads the text of a dim stays: a dim may outlive the block in which it is made."""
    ir.SymbolicDim._value = SymbolicDim._value
    return replace_members(_METHODS)


_replacement = Replacement(_replace)
install, uninstall, installed = _replacement.install, _replacement.uninstall, _replacement.installed
"""Let every `onnx_ir.SymbolicDim` compute with symdim, those that exist included."""
