"""The operator families: one file each, loaded when the first operator is looked up.

To add an operator, write its rule in the family it belongs to. To add a family, add a file and name it here.
"""

FAMILIES = (
    "attention",
    "creation",
    "elementwise",
    "indexing",
    "joining",
    "linear",
    "loss",
    "ml",
    "movement",
    "normalization",
    "quantization",
    "recurrent",
    "reduction",
    "reshaping",
    "resize",
    "selection",
    "signal",
    "strings",
    "training",
    "unary",
    "window",
)
