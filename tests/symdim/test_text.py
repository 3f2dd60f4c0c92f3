from __future__ import annotations

import pytest

from symdim import Scope, Shape, Var, maximum, parse, total
from symdim.algebra.texts.display import quoted
from symdim.algebra.texts.printing import to_text
from symdim.algebra.variable import make_variable

scope = Scope()
N, H, B, S, M = (scope.var(name) for name in "NHBSM")
K = scope.var("K", 0)
X = make_variable(scope, "X", None, None)
LONG = scope.var("seq len")

NAMED = [
    (LONG, "seq len"),
    (LONG + 1, "`seq len` + 1"),
    (scope.var("a`b") * 2, "2*`a``b`"),
    (scope.var("input.1") + scope.var("héé"), "héé + input.1"),
    (scope.var("1x") * 2, "2*`1x`"),
    (12, "12"),
    (-3, "-3"),
]


@pytest.mark.parametrize("dim, text", NAMED, ids=lambda x: str(x))
def test_names_in_texts(dim, text):
    assert to_text(dim) == text
    assert repr(dim) == str(dim) == text


@pytest.mark.parametrize("name", ["x", "_", "a.b.c", "ß1", "H_out", "x²", "²"])
def test_names_that_stand_as_they_are(name):
    assert quoted(name) == name


@pytest.mark.parametrize("name", ["", "1", "a b", "a-b", "a::b", ".a", "`", "a\n", "٣"])
def test_names_that_are_quoted(name):
    assert quoted(name) == "`" + name.replace("`", "``") + "`"


def test_a_product_of_high_sums_prints_as_one():
    def high(size):
        for least in range(1, 4):
            size = maximum((size * size + 3 * S) // 4, least + S)
        return size

    rows, columns = high(H) + 5, high(N) + 7
    assert rows._height > 4
    assert str(rows * columns) == f"({rows})*({columns})"
    assert str(-3 * rows * columns) == f"-3*({rows})*({columns})"
    assert parse(str(rows * columns), {"H": H, "N": N, "S": S}) is rows * columns


def test_equal_names_of_different_scopes_print_alike():
    assert str(Var.fresh("n") + 1) == str(Var.fresh("n") + 1) == "n + 1"


def test_the_order_of_terms_does_not_depend_on_history():
    first = [str(Scope().var("b") * 2 + 1) for _ in range(2)]
    other = Scope()
    b, a = other.var("b"), other.var("a")
    assert str(b + a) == str(a + b) == "a + b"
    assert str(b // 2 + a // 3 + a // 2 + a) == "a + a//2 + a//3 + b//2"
    assert first[0] == first[1]


def test_long_texts_are_printed_in_linear_time():
    sizes = [scope.var(f"d{i}") for i in range(3000)]
    dim = maximum(*[size // 2 for size in sizes]) + total(sizes)
    assert to_text(dim).count("d") == 6000


def test_a_function_word_is_a_name_too():
    assert str(scope.var("max") + maximum(N, 4)) == "max(N, 4) + max"


def test_ties_between_fresh_variables_do_not_hang_on_when_they_were_made():
    """Two maxima of the same names, in a sum of products, in one order whenever a process builds them."""
    texts = set()
    for _ in range(12):
        a, b, c = (Var.fresh(name) for name in "abc")
        total = a * maximum(b, c, 1) - a * maximum(b + 1, b + c, c + 1) + maximum(b, c, 5) * maximum(c, b - 3)
        texts.add(f"{total} {total % 7} {Shape([total, maximum(total, a)])}")
    assert len(texts) == 1, texts
