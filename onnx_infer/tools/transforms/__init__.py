"""Models changed by what inference knows of them.

    folding.py     `fold`: the rounds of changes, decided Ifs     rewriting.py    one pass over the nodes
    draft.py       a model while it is changed                    refusals.py     which nodes may go
    constants.py   known elements, folded constants, roundings    size_nodes.py   sizes from the inputs or other tensors
    dynamic/       static sizes of inputs become free

The operators' own laws stand at their rules (`onnx_infer.operators.rule`). The room uses `results` and the front end in
`protobuf`. Begin with `folding.py`.
"""
