"""The results of a finished inference. Everything here is computed on demand.

    inferred.py     the result of a walk, as data               guards.py        conditions that a run needs
    sources.py      where a symbol can be read                  sizes.py         sizes of symbols, from shapes of inputs
    reasons.py      why something is unknown                    deciding.py      conditions that would make it known
    data_laws.py    laws that values of inputs decide           contract.py      the contract for a file
    exactness.py    whether a type is exact                     guarantees.py    how well the sizes are known
    derived_guards.py    guards, made of statements, and those of the file

The room uses `engine` and what is below it. Begin with `guards.py`.
"""
