"""The laws that rules share. Rules call laws; laws never call rules.

    statements.py    statements and fresh sizes of a rule, in addition to its result; variables that a walk makes
    bounds.py        bounds of symbols that relations imply; assumptions about sizes
    sizes.py         broadcasting, equal sizes, axes, exact quotients
    readable.py      sizes whose expressions are too large
    windows.py       positions of a sliding window
    slices.py        the elements of a slice
    limits.py        sizes that must not be too small or too large; the numbers of elements of vectors
    granularity.py   the scales and zero points of quantized tensors

The room uses `values` and `symdim`. Begin with `sizes.py`.
"""
