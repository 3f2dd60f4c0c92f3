"""What inference knows of a value.

    dtype.py     element types
    text.py      the texts of a model: read, written, shown
    tensor.py    tensors with their shape and small data; sequences, optionals, maps and sparse tensors
    one_of.py    a tensor that is one of two

Everything else uses this room. It uses `symdim` only. Begin with `tensor.py`.
"""
