"""Sums and products: polynomials over atoms, with integer coefficients.

    monomial.py         products of atoms, and the kinds of atoms that laws ask for
    polynomial.py       sums and products of expressions, one object for equal ones
    long_division.py    division of sums by sums

Begin with `polynomial.py`.
"""
