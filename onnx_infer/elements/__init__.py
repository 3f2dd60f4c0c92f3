"""The elements of small tensors: data propagation.

    arithmetic.py    the integer operators of ONNX     conditions.py    comparison, logic, Where
    reductions.py    sums, products, extrema           ratio.py         exact quotients: floats that came from sizes
    remainders.py    Mod                               lifting.py       a function of elements as one of tensors
    ranges.py        the ranges of element types       scaling.py       sizes times floats
    samples.py       some known elements of a tensor   indices.py       elements as indices into an axis
    powers.py        roots, powers, logarithms       progressions.py  elements of ranges, of any number

The room uses `laws` and `values`. Begin with `lifting.py`.
"""
