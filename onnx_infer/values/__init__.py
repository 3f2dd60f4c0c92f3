"""Values: what inference knows about each name in a graph.

    dtype.py       element types
    text.py        the texts of a model: reading, writing, showing
    tensor.py      tensors with their shape and small data; one of two tensors; sequences and other types
    progression.py arithmetic progressions
    parts.py       the elements of sequences of chunks
    propagated.py  which tensors have their elements
    table.py       the table of live values

All other rooms use this one. It uses only `symdim`. Begin with `tensor.py`.
"""
