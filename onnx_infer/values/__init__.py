"""Values: what inference knows about each name in a graph.

    dtype.py       element types
    text.py        the texts of a model: reading, writing, showing
    tensor.py      tensors with their shape and small data; sequences, optionals, maps and sparse tensors
    propagated.py  which tensors have their elements
    one_of.py      one of two tensors
    parts.py       the parts of a tensor that is cut along an axis
    table.py       the table of live values

All other rooms use this one. It uses only `symdim`. Begin with `tensor.py`.
"""
