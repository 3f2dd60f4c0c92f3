"""Intervals of expressions.

    intervals.py     arithmetic of intervals, and the interval of an expression
    corners.py       sums of products that have variables in common
    relaxation.py    sums of divisions that have variables in common
    choices.py       sums of minima and maxima that have variables in common
    pieces.py        sums of minima and maxima of one unit

Begin with `intervals.py`.
"""
