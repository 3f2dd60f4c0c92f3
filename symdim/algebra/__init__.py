"""Expressions in canonical form, and the constructors. Equal expressions are one object.

    expr.py         the nodes and their operators         canonical.py    the constructors: the one way to build
    variable.py     variables and their scopes            interning.py    one object for each expression
    origin.py       where a variable comes from           order.py        the order of terms
    evaluate.py     values and substitution               dims.py         questions about ints and expressions
    pickling.py     expressions as flat programs          caches.py       bounded caches
    bindings.py     sizes given for variables             work.py         the work to build them, for budgets
    refusals.py     what an expression is not: true, a number

    sums/         sums and products                       divisions/     floor division and remainders
    minmax/       minima and maxima                       forms/         one form for equal sums, the short form
    bounds/       intervals                               texts/         the printed form and its parts

The files of this room and of its inner rooms import one another in circles, because every constructor needs every
other one. Of other files they use only `symdim.errors`. Begin with `expr.py`, then `canonical.py`.
"""

from symdim.algebra import canonical, expr, texts

expr.canonical = canonical  # type: ignore[attr-defined]  # what the operators call
expr.texts = texts  # type: ignore[attr-defined]  # what prints nodes
