"""One form for equal sums that have divisions, minima or maxima as terms, and the shortest of their forms.

    basis.py         one form for equal sums
    shortening.py    the short form of a sum
    apart.py         sums that are short already
    stable.py        results that their parts make again

Begin with `basis.py`.
"""
