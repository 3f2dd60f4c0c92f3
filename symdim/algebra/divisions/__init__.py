"""Floor division and remainders.

    floordiv.py       the constructors, for numbers and for expressions as divisors
    small_parts.py    parts of a numerator that do not change the quotient
    merging.py        nested divisions as one
    multiples.py      multiples of a divisor, which are split off
    remainders.py     the remainders in a sum
    signs.py          the choice among opposite divisions

Begin with `floordiv.py`.
"""
