"""The walk over a model: it applies each node's rule to the values of its inputs.

    engine.py              the walk over nodes            walk.py                the record of a walk
    frame.py               one graph being walked         settling.py            names for sizes, at the end
    scope.py               the values of a graph          outcome.py             one rule applied to one node
    subgraph.py            graph attributes               functions.py           calls of functions
    general_calls.py       calls of a function with many signatures
    inner_graphs.py        the inner graphs of a model    made_sizes.py          the sizes of one result
    topological_sort.py    nodes that are out of order    fresh_sizes.py         fresh sizes replaced by their equals
    run_time_elements.py   elements that only a run knows
    declared_types.py      the types that a model declares    claims.py          the claims in them
    overridable.py         initializers that callers may override
    messages.py            diagnostics as they are told: each wrong declared shape once
    learnt.py              what a walk tells the next one     found.py           shapes for the next walk
    long_sizes.py          long sizes, made shorter by what operators demand
    choices.py             how many sizes broadcasting chooses    collecting.py    the garbage collector waits
    contradictions.py      statements that no run fulfils together
    certain.py             statements that hold in every run
    assumptions.py         assumptions of the caller

The room uses `operators` and the rooms below it, but no protobuf. Begin with `engine.py`.
"""
