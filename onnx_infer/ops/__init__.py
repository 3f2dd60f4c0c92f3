"""The operator families: one file each, loaded when the first operator is looked up.

To add an operator, write its rule in the family it belongs to. To add a family, add a file and name it here.
"""

FAMILIES = (
    "attention",
    "contrib.attention",
    "contrib.elementwise",
    "contrib.grouped_attention",
    "contrib.linear",
    "contrib.normalization",
    "contrib.quantization",
    "control_flow",
    "creation",
    "elementwise",
    "indexing",
    "joining",
    "linear",
    "loop",
    "loss",
    "ml",
    "movement",
    "normalization",
    "optional",
    "quantization",
    "recurrent",
    "reduction",
    "reshaping",
    "resize",
    "selection",
    "sequence",
    "signal",
    "strings",
    "training",
    "unary",
    "window",
)
