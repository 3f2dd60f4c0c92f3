"""Expressions in canonical form, and the constructors. Equal expressions are one object.

    expr.py            the nodes and their operators              variable.py      variables and their scopes
    canonical.py       the constructors: the one way to build     interning.py     one object for each expression
    polynomial.py      sums and products                          monomial.py      products of atoms
    floordiv.py        floor division                             long_division.py division of polynomials
    small_parts.py     parts that do not change a quotient        merging.py       nested divisions as one
    extrema.py         minima and maxima                          factoring.py     sums that are products
    lattice.py         maxima of minima in one form               common_parts.py  common parts of arguments
    rounding.py        divisions of maxima and minima             choices.py       bounds of correlated maxima
    basis.py           one form for equal sums                    shortening.py    the short form of a sum
    apart.py           sums that are short already                inward.py        terms inside, for short texts
    stable.py          results that their parts make again        signs.py         the choice of opposite divisions
    order.py           the order of terms
    intervals.py       bounds of expressions                      relaxation.py    bounds of correlated divisions
    patterns.py        remainders in a sum                        display.py       the parts that a node is printed with
    printing.py        the printed form                           pickling.py      expressions as flat programs
    evaluate.py        values and substitution                    leaves.py        the number of printed names
    origin.py          where a variable comes from                dims.py          questions about ints and expressions
    caches.py          bounded caches                             written.py       the length and the work of a text

The files of this room import one another in circles, because every constructor needs every other one. Of other files
they use only `symdim.errors` and `symdim.former_paths`. Begin with `expr.py`, then `canonical.py`.
"""

from symdim.algebra import canonical as _canonical  # noqa: F401  (the circle is always entered here)
