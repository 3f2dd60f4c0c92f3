"""From a model of traced sizes to one of free sizes.

    making.py           `make_dynamic`: free inputs, the rounds, and what is reported
    walking.py          the walk over the freed model, which notes changes
    meant_targets.py    what the target of a traced Reshape was meant to be
    pinned.py           from a size that must be free back to the constant that pins it
    trials.py           what the rule of a node says of other sizes of its operands, and of other numbers
    patterns.py         what a constant tensor shows of itself along an axis
    writing.py          changes as ONNX nodes
    proposals.py        axes of other inputs that a person can free
    remaining.py        pins in bodies, and numbers that the trace may have decided

Begin with `making.py`.
"""
