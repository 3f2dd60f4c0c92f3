"""The results of a finished inference. Everything here is computed on demand.

    inferred.py           the result of a walk, as data          saved.py         the part of an engine in a pickle
    guards.py             conditions that a run needs            guarantees.py    how well the sizes are known
    derived_guards.py     guards, made of statements             least_sizes.py   sizes that every runtime refuses
    data_laws.py          laws that values of inputs decide      sources.py       where a symbol can be read
    reasons.py            why something is unknown               deciding.py      conditions that would make it known
    materialization.py    sizes as ONNX nodes                    verdicts.py      whether a type is exact
    comparison.py         two results side by side               merged_branches.py  values whose types are not written
    checked_sizes.py      sizes that a caller gives              element_bounds.py  bounds of counts of tokens
    report/               tables, explanations, JSON
    planning/             memory, costs and compiled sizes
    emission/             one function from symbols to all sizes, as source text
    page/                 a page for a browser

The room uses `engine` and what is below it. Begin with `guards.py`.
"""
