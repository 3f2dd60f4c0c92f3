"""The layers behind `symdim.prove`.

    hypotheses.py    facts as a problem, and laws without search    budget.py      the work that a proof may take
    elimination.py   solving for variables                          cases.py       case distinctions
    axioms.py        laws of atoms and products of constraints      linear.py      linear arithmetic over integers
    witness.py       the search for an example                      search.py      all of these in turn
    simplification.py   `simplify(expr, facts)`

The room uses `algebra`, `relations` and `parsing`. Begin with `search.py`.
"""
