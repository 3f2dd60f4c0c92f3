"""The operator families: one file each, loaded when the first operator is looked up.

To add an operator, write its rule in the file of its family. To add a family, add a file and name it here. `contrib/`
has the operators of onnxruntime's own domains.

The room uses `laws`, `elements`, `types` and `operators`, but neither the engine nor protobuf. Begin with `joining.py`.
"""

FAMILIES = (
    "attention",
    "contrib.attention",
    "contrib.elementwise",
    "contrib.generation",
    "contrib.grouped_attention",
    "contrib.indexers",
    "contrib.indexing",
    "contrib.layouts",
    "contrib.linear",
    "contrib.normalization",
    "contrib.quantization",
    "contrib.recurrence",
    "contrib.streams",
    "contrib.window",
    "control_flow",
    "creation",
    "elementwise",
    "indexing",
    "joining",
    "linear",
    "loop",
    "loss",
    "ml",
    "ml_models",
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
