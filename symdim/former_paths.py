"""Names of earlier releases, most of them module paths: `symdim.expr` is `symdim.algebra.expr` now.

An old path gives the same module as the new one. So code and pickles that use an old path keep working, and a class
is the same object under both. A former path that is a package today (`onnx_infer.engine`) is not in the table.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from symdim.algebra.expr import Expr

MOVED = {
    "symdim.bindings": "symdim.algebra.bindings",
    "symdim.bounds": "symdim.algebra.bounds.intervals",
    "symdim.canonical": "symdim.algebra.canonical",
    "symdim.evaluate": "symdim.algebra.evaluate",
    "symdim.expr": "symdim.algebra.expr",
    "symdim.laws": "symdim.testing.laws",
    "symdim.leaves": "symdim.algebra.texts.written",
    "symdim.origin": "symdim.algebra.origin",
    "symdim.program": "symdim.algebra.pickling",
    "symdim.text": "symdim.algebra.texts.printing",
    "symdim.tree": "symdim.algebra.texts.display",
    "symdim.variable": "symdim.algebra.variable",
}
"""Former module path -> today's. `onnx_infer` adds its own."""


class FormerPaths:
    """A finder for `sys.meta_path`: it gives the module at today's path for a former one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of a former path; None for every other name, so the other finders go on."""
        if name not in MOVED:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, _Alias())  # type: ignore[arg-type]  # the protocol asks for two methods only


class _Alias:
    """A loader that gives a module that exists at another path."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from importlib import import_module

        module = import_module(MOVED[spec.name])
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has stored the spec of the former path here


def install() -> None:
    """Let imports find former paths.

    The finder comes first; otherwise a module of a package that moved would be found in its folder and loaded twice.
    """
    if FormerPaths not in sys.meta_path:
        sys.meta_path.insert(0, FormerPaths)


def quotient_by_positive(n: int | Expr, d: int | Expr) -> int | Expr:
    """`n // d`, which needs no divisor known to be positive any more.

    >>> from symdim import Var
    >>> quotient_by_positive(6 * Var("N"), 2)
    3*N
    """
    return n // d


__all__ = ["MOVED", "install", "quotient_by_positive"]
