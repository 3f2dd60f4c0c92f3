"""Conditions on sizes, and their plain form: the one in which a person writes them.

    condition.py    relations of two sizes: their texts and values; those of one variable as an interval
    solving.py      a condition as simpler ones, solved for a variable
    monotone.py     how an expression grows with its variable, and where it becomes >= 0

The room uses `algebra` alone. Begin with `condition.py`.
"""
