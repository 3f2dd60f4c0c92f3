"""Conditions on sizes: what they say, and the plain form in which a person writes them.

    condition.py    relations of two sizes, their texts and values
    solving.py      a condition as simpler ones, solved for a variable
    monotone.py     how an expression grows with its variable, and from where on it is not negative

The room uses `algebra` alone. Begin with `condition.py`.
"""
