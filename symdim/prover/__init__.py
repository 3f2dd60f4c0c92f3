"""The layers behind `symdim.prove`.

    hypotheses.py    facts as a problem, and laws without search    budget.py      the work that a proof may take
    differences.py   chains of differences by shortest paths        elimination.py solving for variables
    linear.py        linear arithmetic over integers                axioms.py      laws of quotients and maxima for it
    ordering.py      quotients and maxima compared by their parts   nesting.py     merged divisions taken apart
    products.py      products of constraints                        residues.py    periods of divisions
    cases.py         case distinctions                              witness.py     the search for an example
    halves.py        upper halves as lower halves                   simplification.py   `simplify(expr, facts)`
    search.py        all of these in turn                           points.py      values at a few points

The room uses `algebra` and `parsing`. Begin with `search.py`.
"""
