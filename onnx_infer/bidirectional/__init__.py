"""Inference in both directions: what outputs, weights and operators say of inputs, and then of everything else.

rounds.py          walks and constraints in turn, until nothing changes
model_facts.py     what a whole model says of its shapes, in a `symdim.Store`; the forms of nodes: `constraints/`
found_shapes.py    what follows, as a model would declare it
"""

from onnx_infer.bidirectional.rounds import infer_both_ways

__all__ = ["infer_both_ways"]
