"""A store: constraints on sizes and rows, their consequences, and answers to questions.

Each constraint has an origin. Sizes are `Dim` (ints and expressions), rows are those of symdim/rows.py. Constraints are
what operators say about them: equality, broadcasting (one way, or exactly to the result), sums, strides and windows,
numbers of elements, bounds, divisibility, ranks, denotations.

    constraints.py    the kinds of constraints, pure data; mentions.py: their variables; errors.py: contradictions
    solution.py       values and intervals of variables, and the constraints that gave them
    ordering.py       a fixed order in which constraints take effect
    propagation.py    the worklist: each rule settles a constraint, or waits for its variables
    rules.py          which rule is for which constraint        intervals.py   intervals, from constraints as stated
    sizes.py          equalities, bounds, divisibilities        rows.py        equal rows
    refinement.py     one-way broadcasting                      cycles.py      cycles of refinements are equalities
    broadcast.py      NumPy's broadcasting                      windows.py     convolutions and pools
    ranks.py          ranks as a graph of differences           labels.py      denotations of axes
    closing.py        guesses in stages, only on request        closing_bounds.py   the bounds that guesses use
    answers.py        values, candidates, guards                copying.py     what a question works on
    solver.py         the Store: constraints in, answers out

Rules deduce; they never guess, search or call the prover. So their results hold in every solution of the constraints.
Only questions about equality may call the prover. A count of elements is an equation between products, in which every
unknown part of a row has its own variable. A window is an equation with a floor division; backwards it gives an
interval. Begin with `solver.py`.
"""

from symdim.store.answers import Guard
from symdim.store.constraints import Origin
from symdim.store.errors import Contradiction
from symdim.store.solver import Store

__all__ = ["Contradiction", "Guard", "Origin", "Store"]
