"""What a reader sees of an expression: the display tree, and its text.

    printing.py     the printed form, and the beginning of a long one
    display.py      the shortest tree of an expression, and trees as texts
    tree.py         trees, and those of the stored form
    factoring.py    sums that are products
    inward.py       terms of a sum inside of a minimum, maximum, division or remainder
    written.py      the length of a text, in names, too, and the work to build it

Begin with `tree.py`.
"""
