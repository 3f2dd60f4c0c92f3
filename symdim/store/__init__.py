"""A store: constraints on sizes and rows, their consequences, and answers to questions.

Each constraint has an origin. Sizes are `Dim` (ints and expressions), rows are those of symdim/rows.py. Constraints are
what operators say about them: equality, broadcasting (one way, or exactly to the result), sums, strides and windows,
numbers of elements, bounds, divisibility, ranks, denotations.

    constraints.py    the kinds of constraints, pure data; contradictions
    contents.py       the variables of constraints, and a fixed order of them
    solution.py       values, intervals and labels of variables, and the constraints that gave them
    state.py          the solution, the worklist of constraints, and what rules may do to them
    propagation.py    the work: each rule settles a constraint, or waits for its variables
    sizes.py          equalities, bounds, divisibilities, windows
    intervals.py      intervals of variables, from constraints as stated
    rows.py           equal rows                      ranks.py   ranks as a graph of differences
    broadcasting.py   broadcasting, one way, both ways, and exactly
    closing.py        guesses in stages, only on request
    answers.py        values, candidates, guards
    solver.py         the Store: constraints in, answers out
    reasoning.py      facts and the prover as one object with checkpoints

Rules deduce; they never guess, search or call the prover. So their results hold in every solution of the constraints. A
count of elements is an equation between products, in which every unknown part of a row has its own variable. A window
is an equation with a floor division; backwards it gives an interval. Begin with `solver.py`.
"""

from symdim.store.answers import Guard
from symdim.store.constraints import Contradiction, Origin
from symdim.store.reasoning import Reasoning
from symdim.store.solver import Store

__all__ = ["Contradiction", "Guard", "Origin", "Reasoning", "Store"]
