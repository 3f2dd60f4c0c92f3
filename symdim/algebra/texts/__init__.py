"""Texts of expressions, and the parts that a reader of expressions sees.

    printing.py     the printed form
    display.py      the parts that a node is printed with
    patterns.py     remainders in a sum
    factoring.py    sums that are products
    inward.py       terms inside of a minimum, maximum or division, for short texts
    leaves.py       the number of printed names
    written.py      the length and the work of a text

Begin with `printing.py`.
"""
