"""Minima and maxima.

    extrema.py         the constructors
    lattice.py         maxima of minima, and minima of maxima, in one form
    means.py           arguments between two others, which are needless
    common_parts.py    common parts of arguments, which are taken out
    rounding.py        divisions of maxima and minima

Begin with `extrema.py`; docs/design.md has the laws.
"""
