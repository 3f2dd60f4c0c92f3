"""The passes over a model: each one applies the rule of every node to the values of its inputs.

    passes.py          the passes, from the inputs to the outputs
    walk.py            one pass, node by node                record.py          what a pass records
    scope.py           the values of a graph, its order      apply.py           one rule applied to one node, recorded
    subgraph.py        graph attributes                      calls.py           calls of functions
    demands.py         which statements hold in every run, and which none fulfils
    repeat.py          what a second pass knows from the start
    declared.py        declared types, merged; their claims  claims.py          names from claims, after the walk
    fresh.py           fresh sizes and their equals          run_time.py        elements that only a run knows
    substitution.py    sizes of a record replaced by others: solved, shorter, with declared names
    assumptions.py     assumptions of the caller             messages.py        what is reported at the end
    inner_graphs.py    the inner graphs after the walk       graph_index.py     what nodes read, give and run, by call

The package uses `operators` and the packages below it, but no protobuf. Begin with `passes.py`.
"""
