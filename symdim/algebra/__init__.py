"""Expressions in canonical form, and the constructors. Equal expressions are one object.

    canonical.py    the constructors: the one way to build    dims.py         questions about ints and expressions
    texts/          the printed form and its parts            pickling.py     expressions as flat programs
    evaluate.py     values and substitution                   bindings.py     sizes given for variables
    constructors/   sums, products, divisions, maxima and minima
    bounds.py       the interval of an expression             corners.py      the interval of a sum of products
    polynomials.py  products of atoms, and sums as they stand
    variable.py     variables and their scopes                interning.py    one object for each expression
    application.py  functions and their applications
    expr.py         the nodes and their operators             order.py        the order of terms
    origin.py       where a variable comes from               intervals.py    arithmetic of intervals
    caches.py       bounded caches                          named_tuple.py   named tuples that load fast
    magnitude.py    the most bits that a number may have

Each line uses only the lines below it, and of other rooms only `symdim.errors`. Operators call the constructors above
them, which are bound here. Begin with `expr.py`, then `canonical.py`.
"""

from symdim.algebra import application, canonical, expr, texts

expr.canonical = canonical  # type: ignore[attr-defined]  # what the operators call
application.canonical = canonical  # type: ignore[attr-defined]  # what applies functions
expr.texts = texts  # type: ignore[attr-defined]  # what prints nodes
