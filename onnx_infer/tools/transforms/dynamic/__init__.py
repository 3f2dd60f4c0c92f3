"""From a model of traced sizes to one of free sizes.

    making.py           `make_dynamic`: free inputs, the rounds, what is reported, axes to free besides
    walking.py          the walk over the freed model, which notes changes
    meant_targets.py    what the target of a traced Reshape was meant to be, and a constant tensor along an axis
    pinned.py           from a size that must be free back to the constant that pins it
    trials.py           what the rule of a node says of other sizes of its operands, and of other numbers
    writing.py          changes as ONNX nodes
    remaining.py        pins in bodies, and numbers that the trace may have decided

Begin with `making.py`.
"""
