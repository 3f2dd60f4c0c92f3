"""The constructors: only they build expressions, and these are canonical and interned.

    arithmetic.py       sums, products and powers          long_division.py    division of sums by sums
    floordiv.py         floor division and remainders      numerators.py       what is done to a numerator before
    by_expression.py    divisions by expressions
    extrema.py          maxima and minima                  common_parts.py     what their arguments have in common
    lattice.py          nested maxima and minima           means.py            arguments between two others
    rounding.py         divisions of maxima and minima
    applications.py     applications of functions
    basis.py            one form for equal sums            shortening.py       the short form of a sum

A new law has its place by what it changes: an argument that another one makes needless in `lattice._difference`, a mean
in `means.py`, a division by a number in `floordiv.py`, one by an expression in `by_expression.py`, the form of a sum in
`basis.py`. It gets a `Law`, and `LookAlike`s without its side condition, in the table of laws in tests/symdim.

A quotient may be stored in its opposite form, `-1 - (-1 - n)//d`. The number of files that import each other and the
lines of the core are limited (tests of rooms).

Each constructor needs the others, so these files import one another, as modules, and use them in functions only.
Begin with `arithmetic.py`, then `floordiv.py` and `extrema.py`.
"""
