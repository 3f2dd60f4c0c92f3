"""The canonical form: expressions, and the constructors that keep equal ones one object.

    expr.py            the nodes and their operators              variable.py      variables and their scopes
    canonical.py       the constructors: the one way to build     interning.py     one object for each expression
    polynomial.py      sums and products                          monomial.py      products of atoms
    floordiv.py        floor division                             long_division.py division of polynomials
    small_parts.py     what does not change a quotient            merging.py       nested divisions as one
    extrema.py         minima and maxima                          factoring.py     sums that are products
    lattice.py         maxima of minima in one form               common_parts.py  what arguments have in common
    rounding.py        divisions of maxima and minima             choices.py       bounds of correlated maxima
    basis.py           sums of twins in one form                  shortening.py    and in a short one
    apart.py           sums that are short as they stand          inward.py        terms inside, for short texts
    order.py           the order of terms
    intervals.py       bounds of expressions                      relaxation.py    bounds of correlated divisions
    patterns.py        how a sum reads: remainders                display.py       the parts that a node shows
    printing.py        the printed form                           pickling.py      expressions as flat programs
    evaluate.py        values and substitution                    leaves.py        how many names are printed
    origin.py          where a variable comes from                dims.py          questions about ints and expressions
    caches.py          what was computed before, within a bound   written.py       the length and the work of a text

The files of this room import one another in circles: every constructor needs every other one. They use only
`symdim.errors` besides. Begin with `expr.py`, then `canonical.py`.
"""

from symdim.algebra import canonical as _canonical  # noqa: F401  (the circle is entered here, whoever asks first)
