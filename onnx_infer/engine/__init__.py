"""The walk over a model: it applies each node's rule to the values of its inputs.

    walk.py            the walk over nodes                   record.py          what a walk has found so far
    scope.py           the values of a graph                 apply.py           one rule applied to one node
    subgraph.py        graph attributes                      calls.py           calls of functions
    outcomes.py        what an outcome says beyond values    order.py           nodes that are out of order
    repeat.py          what a second walk knows              collecting.py      no collector while an inference runs
    declared.py        the types that a model declares       claims.py          the claims in them, and names from these
    fresh.py           fresh sizes and their equals          run_time.py        elements that only a run knows
    substitution.py    sizes of a record replaced by others: solved, shorter, with declared names
    certain.py         statements that hold in every run     contradictions.py  statements that no run fulfils together
    assumptions.py     assumptions of the caller             messages.py        what is told at the end

The room uses `operators` and the rooms below it, but no protobuf. Begin with `walk.py`.
"""
