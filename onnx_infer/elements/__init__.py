"""The elements of small tensors: data propagation.

    arithmetic.py    the integer operators of ONNX     conditions.py    comparison, logic, Where
    reductions.py    sums, products, extrema           ratio.py         exact quotients: floats that came from sizes
    lifting.py       a function of elements as one     samples.py       some known elements of a tensor
                     of tensors; exact ranges          scaling.py       sizes times floats
    powers.py        roots, powers, logarithms         indices.py       elements as indices into an axis
    remainders.py    Mod                               progressions.py  elements of ranges, of any number

The room uses `laws` and `values`. Begin with `lifting.py`.
"""
