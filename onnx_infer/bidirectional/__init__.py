"""Inference in both directions: outputs, weights and operators determine shapes of inputs and of other values.

    rounds.py          walks and constraints in turn, until nothing changes
    model_facts.py     the constraints of a whole model in a `symdim.Store`; the forms of nodes: `constraints/`

The room uses `engine`, `constraints` and what is below them. Begin with `rounds.py`.
"""

from onnx_infer.bidirectional.rounds import infer_backward

__all__ = ["infer_backward"]
