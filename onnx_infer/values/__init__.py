"""Values: what inference knows about each name in a graph.

    dtype.py       element types
    text.py        the texts of a model: reading, writing, showing
    tensor.py      tensors with their shape and small data; the table of live values
    containers.py  one of two tensors; sequences and their parts, optionals, maps, sparse tensors

All other rooms use this one. It uses only `symdim`. Begin with `tensor.py`.
"""
