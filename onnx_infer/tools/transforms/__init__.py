"""Models changed by what inference knows of them.

    folding.py          `fold`: the rounds of changes          rewriting.py      one pass over the nodes
    draft.py            a model while it is changed            unique_names.py   one value for each name
    refusals.py         which nodes may go                     branches.py       Ifs that are decided
    identities.py       nodes that give what they get          targets.py        Reshape, Expand and Slice by constants
    constants.py        known elements, folded constants       size_nodes.py     sizes computed from the inputs
    claims.py           declared types, taken off              shape_reads.py    sizes that a tensor has
    functions.py        bodies of functions, as models         roundings.py      nodes that decide how others round
    dynamic/            static sizes of inputs become free, and what pins them is found and changed

The room uses `results` and the front end in `protobuf`. Begin with `folding.py`.
"""
