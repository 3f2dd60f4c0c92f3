"""Minima and maxima.

    extrema.py         the constructors
    lattice.py         maxima of minima, and minima of maxima, in one form
    common_parts.py    common parts of arguments, which are taken out
    rounding.py        divisions of maxima and minima

Begin with `extrema.py`; docs/design.md has the laws.
"""
