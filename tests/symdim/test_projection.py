"""Projections of an einsum plan: equal ones form a class, whose index is that of any member."""

from __future__ import annotations

import pytest

from symdim import Var
from symdim.einsum.projection import Concat, Fixed, Projections, iterators_of, terms_of
from symdim.einsum.spec import SpecError

N, M = Var("N"), Var("M")


def test_a_class_has_one_representative_size_and_index() -> None:
    projections = Projections()
    a, b, c, d = (projections.fresh(name, size) for name, size in (("a", N), ("b", M), ("c", N), ("d", 5)))
    projections.give(d, Fixed(3))
    projections.equate(c, d)
    projections.equate(b, c)
    projections.equate(a, b)
    projections.equate(d, a)
    assert {projections.find(projection) for projection in (d, c, b, a)} == {a}
    assert projections.size(d) == 5
    with pytest.raises(SpecError, match="'a' is indexed by"):
        projections.give(b, Fixed(4))


def test_sizes_that_differ_are_refused() -> None:
    projections = Projections()
    with pytest.raises(SpecError, match="sizes of 'a' and 'b' differ: 3 and 4"):
        projections.equate(projections.fresh("a", 3), projections.fresh("b", 4))


def test_a_concatenation_has_iterators_and_no_terms() -> None:
    index = Concat(("a", "b"))
    assert iterators_of(index) == ("a", "b")
    with pytest.raises(TypeError, match=r"a\^b is not affine"):
        terms_of(index)
