"""The expression engines under comparison, behind one small interface; those not installed are left out.

Not every engine does the same work: pymbolic builds trees and simplifies nothing, symengine's symbols are no integers.
`same` is an engine's own equality after its own normalisation, so that a workload can demand what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Expression = Any


class Engine:
    """Operations on an engine's expressions; the defaults are Python's operators."""

    module = ""

    def __init__(self) -> None:
        self.library = import_module(self.module)

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.module.partition(".")[0]

    def clear(self) -> None:
        """Forget what earlier runs left in caches."""

    def var(self, name: str) -> Expression:
        """A symbol >= 1."""
        raise NotImplementedError

    def floordiv(self, a: Expression, b: Expression) -> Expression:
        """floor(a / b)."""
        return a // b

    def mod(self, a: Expression, b: Expression) -> Expression:
        """a - b * floor(a / b)."""
        return a % b

    def maximum(self, a: Expression, b: Expression) -> Expression:
        """The larger one."""
        raise NotImplementedError

    def same(self, a: Expression, b: Expression) -> bool:
        """Whether the engine sees that two expressions are equal."""
        return bool(a == b)

    def expand(self, a: Expression) -> Expression:
        """The expression multiplied out, where the engine does not do so by itself."""
        return a

    def normal(self, a: Expression) -> Expression:
        """The normal form of an expression, where the engine does not keep it by itself."""
        return a

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        """The value at the sizes."""
        raise NotImplementedError

    def quotient_text(self, a: str, b: int) -> str:
        """floor(a / b) in the engine's own notation."""
        return f"({a})//{b}"

    def parse(self, text: str) -> Expression:
        """The expression that a text in the engine's own notation denotes."""
        raise NotImplementedError


class Symdim(Engine):
    """This project."""

    module = "symdim"

    def clear(self) -> None:
        import_module("symdim.algebra.caches").clear_caches()

    def var(self, name: str) -> Expression:
        return self.library.Var(name)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return self.library.maximum(a, b)

    def same(self, a: Expression, b: Expression) -> bool:
        return a is b

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(a.evaluate(sizes))

    def parse(self, text: str) -> Expression:
        return self.library.parse(text)


class Sympy(Engine):
    """SymPy with positive integer symbols, as onnxruntime and onnx_ir use it."""

    module = "sympy"

    def clear(self) -> None:
        import_module("sympy.core.cache").clear_cache()

    def var(self, name: str) -> Expression:
        return self.library.Symbol(name, integer=True, positive=True)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return self.library.Max(a, b)

    def expand(self, a: Expression) -> Expression:
        return self.library.expand(a)

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(a.subs({self.var(k): v for k, v in sizes.items()}))

    def parse(self, text: str) -> Expression:
        return self.library.sympify(text)


class OnnxIr(Engine):
    """onnx_ir's SymbolicDim, on SymPy with positive integer symbols; a maximum is written as text."""

    module = "onnx_ir"

    def clear(self) -> None:
        import_module("sympy.core.cache").clear_cache()

    def var(self, name: str) -> Expression:
        return self.library.SymbolicDim(name)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return self.parse(f"max({a}, {b})")

    def expand(self, a: Expression) -> Expression:
        return a.simplify()

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(a.evaluate(dict(sizes)))

    def parse(self, text: str) -> Expression:
        dim = self.library.SymbolicDim(text)
        dim.free_symbols()  # the text is read when it is needed
        return dim


class Torch(Sympy):
    """The expressions of torch's SymInt: SymPy with FloorDiv, PythonMod and Max of its own, without tracing."""

    module = "torch.utils._sympy.functions"

    def __init__(self) -> None:
        super().__init__()
        self.functions, self.library = self.library, import_module("sympy")

    def floordiv(self, a: Expression, b: Expression) -> Expression:
        return self.functions.FloorDiv(a, b)

    def mod(self, a: Expression, b: Expression) -> Expression:
        return self.functions.PythonMod(a, b)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return self.functions.Max(a, b)

    def quotient_text(self, a: str, b: int) -> str:
        return f"FloorDiv({a}, {b})"

    def parse(self, text: str) -> Expression:
        return self.library.sympify(text, locals={"FloorDiv": self.functions.FloorDiv})


class Symengine(Engine):
    """SymPy's core in C++."""

    module = "symengine"

    def var(self, name: str) -> Expression:
        return self.library.Symbol(name)

    def floordiv(self, a: Expression, b: Expression) -> Expression:
        return self.library.floor(a / b)

    def mod(self, a: Expression, b: Expression) -> Expression:
        return a - b * self.library.floor(a / b)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return self.library.Max(a, b)

    def expand(self, a: Expression) -> Expression:
        return self.library.expand(a)

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(a.subs({self.var(k): v for k, v in sizes.items()}))

    def parse(self, text: str) -> Expression:
        return self.library.sympify(text)

    def quotient_text(self, a: str, b: int) -> str:
        return f"floor(({a})/{b})"


class Jax(Engine):
    """JAX's shape polynomials."""

    module = "jax.export"

    def __init__(self) -> None:
        super().__init__()
        self._scope = self.library.SymbolicScope()

    def var(self, name: str) -> Expression:
        return self.library.symbolic_shape(name, scope=self._scope)[0]

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return import_module("jax.core").max_dim(a, b)

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(a._evaluate(dict(sizes)))

    def quotient_text(self, a: str, b: int) -> str:
        return f"floordiv({a}, {b})"

    def parse(self, text: str) -> Expression:
        return self.library.symbolic_shape(text, scope=self._scope)[0]


class Pymbolic(Engine):
    """Plain trees, not normalised."""

    module = "pymbolic"

    def var(self, name: str) -> Expression:
        return self.library.var(name)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return import_module("pymbolic.primitives").Max((a, b))

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(self.library.evaluate(a, sizes))

    def parse(self, text: str) -> Expression:
        return self.library.parse(text)


class Tinygrad(Engine):
    """tinygrad's UOp variables, simplified on request."""

    module = "tinygrad.uop.ops"
    _LARGEST = 1 << 20

    def var(self, name: str) -> Expression:
        return self.library.UOp.variable(name, 1, self._LARGEST)

    def maximum(self, a: Expression, b: Expression) -> Expression:
        return a.maximum(b)

    def same(self, a: Expression, b: Expression) -> bool:
        return a.simplify() is b.simplify()

    def normal(self, a: Expression) -> Expression:
        return a.simplify()

    def evaluate(self, a: Expression, sizes: Mapping[str, int]) -> int:
        return int(a.sym_infer(dict(sizes)))


def installed() -> list[Engine]:
    """An instance of every engine that can be imported, this project first."""
    engines: list[Engine] = []
    for kind in (Symdim, Sympy, OnnxIr, Torch, Jax, Tinygrad, Symengine, Pymbolic):
        try:
            engines.append(kind())
        except ImportError:
            continue
    return engines
