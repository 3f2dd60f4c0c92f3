"""Texts of expressions, and the parts that a reader of expressions sees.

    printing.py     the printed form
    brief.py        the beginning of a long text, for repr and messages
    display.py      the parts that a node is printed with
    patterns.py     remainders in a sum
    factoring.py    sums that are products
    inward.py       terms inside of a minimum, maximum or division, for short texts
    written.py      the length of a text, in names too, and the work to build it

Begin with `printing.py`.
"""
