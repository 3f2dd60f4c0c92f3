"""From a model of traced sizes to one of free sizes.

    making.py           `make_dynamic`: the rounds, and what is reported    freeing.py    free inputs, no stale types
    walking.py          the walk over the freed model, which notes changes  writing.py    changes as ONNX nodes
    meant_targets.py    what the target of a traced Reshape was meant to be
    pinned.py           from a size that must be free back to the constant that pins it
    trials.py           what the rule of a node says of other sizes of its operands
    proposals.py        axes of other inputs that a person can free
    doubts.py           numbers that the trace may have decided
    constants.py        what a constant tensor shows of itself along an axis

Begin with `making.py`.
"""
