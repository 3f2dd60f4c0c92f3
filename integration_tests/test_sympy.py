"""SymPy's expressions, both ways, and torch's functions in them."""

from __future__ import annotations

from random import Random

import pytest
import sympy

from symdim import Expr, Rational, SymdimError, Var, maximum, parse, sqrt
from symdim.dialects.sympy_expressions import from_sympy, to_sympy
from symdim.dialects.texts import text_in
from tests.symdim import strategies

H, N = Var("H"), Var("N")


def test_values_agree() -> None:
    random = Random(2)
    for dim in strategies.random_expressions(120, seed=8, leaves=8):
        other = to_sympy(dim)
        for _ in range(3):
            sizes = strategies.random_bindings(random)
            try:
                wanted = dim.to_int(sizes)
            except ZeroDivisionError:
                continue
            assert other.subs({symbol: sizes[symbol.name] for symbol in other.free_symbols}) == wanted, dim


def test_expressions_come_back() -> None:
    random = Random(6)
    for dim in strategies.random_expressions(120, seed=8, leaves=8):
        back = from_sympy(to_sympy(dim), strategies.VARIABLES)  # SymPy may have rewritten it
        for _ in range(5):
            sizes = strategies.random_bindings(random)
            try:
                wanted = dim.to_int(sizes)
            except ZeroDivisionError:
                continue
            assert (back.to_int(sizes) if isinstance(back, Expr) else back) == wanted, dim
    for dim in ((H + 1) // 2, 3 * H * N - H % 4, maximum(H, N, 7), H**2 // N):
        assert from_sympy(to_sympy(dim)) is dim


def test_symbols_have_the_signs_of_their_bounds() -> None:
    zero = to_sympy(Var.fresh("z", 0))
    assert (zero.is_nonnegative, zero.is_positive, to_sympy(H).is_positive, to_sympy(H).is_integer) == (
        True, None, True, True,
    )  # fmt: skip
    assert to_sympy(7) == sympy.Integer(7)


def test_texts_are_those_of_its_printer() -> None:
    """One text in 200 differs: SymPy rewrites some remainders by symbols, and moves signs between sums."""
    dims = [dim for seed in range(8) for dim in strategies.random_expressions(150, seed=seed, leaves=6)]
    assert sum(text_in(dim, "sympy") != str(to_sympy(dim)) for dim in dims) < len(dims) / 100
    rounded = [dim for dim in dims if "%" not in str(dim)]
    assert sum(text_in(dim, "sympy") != str(to_sympy(dim)) for dim in rounded) < len(rounded) / 300
    half = Rational(H + 1, 2)
    for value, text in ((half, "H/2 + 1/2"), (Rational(H + 1, 2 * N), "(H + 1)/(2*N)"), (sqrt(H) * 2, "2*sqrt(H)")):
        assert text_in(value, "sympy") == str(to_sympy(value)) == text


def test_sympy_reads_the_text() -> None:
    h, n = to_sympy(H), to_sympy(N)
    dim = (H - 1) // (2 * N) + H % 4 * maximum(H, N)
    assert sympy.sympify(text_in(dim, "sympy"), locals={"H": h, "N": n}) == to_sympy(dim)


def test_quotients_are_exact() -> None:
    h = sympy.Symbol("H")
    assert from_sympy(sympy.floor(h / 2 - sympy.Rational(1, 2)) + 1) is parse("(H + 1)//2")
    assert from_sympy((h**2 - h) / 2 * 2 + sympy.ceiling(h / 3)) is H**2 - H + parse("ceil(H/3)")
    assert from_sympy(sympy.Integer(3)) == 3
    with pytest.raises(SymdimError, match="need not be an integer"):
        from_sympy(h / 2)
    with pytest.raises(SymdimError, match="an exponent must be"):
        from_sympy(sympy.sqrt(h))
    with pytest.raises(SymdimError, match="sin has no exact meaning"):
        from_sympy(sympy.sin(h))


def test_functions_of_torch_are_read_by_their_names() -> None:
    class FloorDiv(sympy.Function):  # as in torch.utils._sympy.functions
        pass

    class PythonMod(sympy.Function):
        pass

    h = sympy.Symbol("H")
    assert from_sympy(FloorDiv(h + 1, 2) + PythonMod(h, 4)) is (H + 1) // 2 + H % 4
