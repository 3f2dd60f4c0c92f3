"""The results of a finished inference. Everything here is computed on demand.

    inferred.py           the result of a walk, as data      guarantees.py    how well the sizes are known
    guards.py             conditions that a run needs
    derived_guards.py     guards, made of statements, and those of the file
    data_laws.py          laws that values of inputs decide  sources.py       where a symbol can be read
    reasons.py            why something is unknown           deciding.py      conditions that would make it known
    contract.py           the contract for a file
    exactness.py          whether a type is exact

The room uses `engine` and what is below it. Begin with `guards.py`.
"""
