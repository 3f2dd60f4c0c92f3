"""One place for what is known about sizes and rows.

A store takes facts with their origins, finds what follows from them, and answers questions. It knows sizes (`Dim`:
ints and expressions) and rows (symdim/rows.py), and what operators say about them: equality, broadcasting one way or
to exactly the result, sums, strides and windows, numbers of elements, bounds, divisibility, ranks, denotations.

    constraints.py    the kinds of constraints, pure data; mentions.py: their variables; errors.py: contradictions
    solution.py       values and intervals of variables, and the facts they come from
    ordering.py       the order in which statements take effect, whatever the order in which they were said
    propagation.py    the worklist: every rule looks at a fact, and settles it or waits for its variables
    rules.py          which rule looks at which fact            intervals.py   intervals, from facts as they were stated
    sizes.py          equalities, bounds, divisibilities        rows.py        equal rows
    refinement.py     one-way broadcasting                      cycles.py      what refines itself is equal
    broadcast.py      NumPy's broadcasting                      windows.py     convolutions and pools
    ranks.py          ranks as a graph of differences           labels.py      denotations of axes
    closing.py        guesses, in stages, when asked for        closing_bounds.py   what broadcasting allows them to be
    answers.py        values, candidates, guards
    solver.py         the Store: statements and questions

Rules deduce and never guess, search or call the prover, so what they find holds in every model of the facts; questions
about equality may call it. A count of elements is an equation between products, in which every unknown part of a row
has a variable of its own; a window is an equation with a floor division, from which an interval follows backwards.
"""

from symdim.store.answers import Guard
from symdim.store.constraints import Origin
from symdim.store.errors import Contradiction
from symdim.store.solver import Store

__all__ = ["Contradiction", "Guard", "Origin", "Store"]
