"""The walk over a model: each node's rule is applied to what is known of its inputs.

    engine.py              the walk over nodes            walk.py                what a walk records
    frame.py               one graph being walked         settling.py            names for sizes, at the end
    scope.py               the values of a graph          outcome.py             what a rule gave for a node
    subgraph.py            graph attributes               functions.py           calls of functions
    general_calls.py       calls of a function with many signatures
    recordings.py          nodes with subgraphs           parameters.py          sizes in what is remembered
    inner_graphs.py        the graphs inside of a model
    topological_sort.py    nodes that are out of order    fresh_sizes.py         what equalities say of fresh sizes
    implied_bounds.py      bounds that operators imply    run_time_elements.py   elements that only a run knows
    declared_types.py      what a model declares          claims.py              what of that is only claimed
    overridable.py         initializers that callers may override
    assumptions.py         what the caller assumes        assumed_bounds.py      the intervals in that

The room uses `operators` and what is below it. It knows no protobuf. Begin with `engine.py`.
"""
