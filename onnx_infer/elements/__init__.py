"""The elements of small tensors: data propagation.

    arithmetic.py    the integer operators of ONNX     conditions.py    comparison, logic, Where
    reductions.py    sums, products, extrema           ratio.py         exact quotients: floats that came from sizes
    lifting.py       a function of elements as a function of tensors
    ranges.py        whether an element stays in the range of its type
    samples.py       elements that occur in a tensor of which not all are known
    indices.py       elements as indices into an axis

The room uses `laws` and `values`. Begin with `lifting.py`.
"""
