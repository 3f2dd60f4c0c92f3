"""The rules of `lint`, and what they find."""

from __future__ import annotations

import onnx

from onnx_infer.protobuf.reading import OVERRIDABLE
from symdim.algebra.named_tuple import NamedTuple
from symdim.errors import printable

RULES = {
    # functions.py
    "ir-version": (
        "onnx's checker refuses an IR version that is missing, 0, newer than itself, or older than 3 with an opset; "
        "onnxruntime refuses one that is missing or newer",
        "write it with a tool that sets ir_version, or install newer ones",
    ),
    "no-opset": ("the model imports no opset; both refuse it", "add the opset to opset_import"),
    "opset-version": (
        "both refuse an opset below 1 where nodes use it, and onnxruntime one that is newer than itself",
        "import an opset that exists, or install newer tools",
    ),
    "repeated-metadata": ("several entries of metadata_props have one key; onnx's checker refuses it", "keep one"),
    # names.py
    "unnamed": ("a graph, a body, an input, an output, an initializer or a function has no name", "give it one"),
    "untyped-value": (
        "onnx's checker refuses an input or output of the model without a type, an element type or a shape; "
        "onnxruntime refuses an input without a type, and any type without an element type that exists",
        "declare it; `onnx-infer model.onnx -o typed.onnx` writes what can be known",
    ),
    "repeated-name": (
        "two values have one name (single static assignment); onnx's checker refuses it, and onnxruntime unless both "
        "are initializers",
        "rename one of them",
    ),
    "value-not-given": (
        "a node reads, or a graph returns, what nothing before it gives; onnx's checker refuses it, and onnxruntime "
        "unless a later node gives it",
        "sort the nodes, or give the value",
    ),
    "shadowed-name": (
        "a value of a body has a name that is visible around the body; the specification forbids it, and onnx's "
        "checker and onnxruntime refuse it if a node gives the value",
        "rename the value in the body",
    ),
    "outer-value-returned": (
        "a body returns a value of the graph around it; onnx's checker and onnxruntime refuse the model",
        "return an Identity of the value",
    ),
    "repeated-value-info": (
        "several value_infos have one name; which of them counts differs, and where types differ onnx and onnxruntime "
        "refuse the model",
        "keep one of them",
    ),
    "repeated-node-name": ("nodes of one graph have one name; onnxruntime refuses the model", "give each its own name"),
    "initializer-not-input": (
        f"below IR version {OVERRIDABLE} each initializer is an input, too; onnx's checker refuses the model",
        f"make it an input, or raise ir_version to {OVERRIDABLE}",
    ),
    "domain-not-imported": (
        "no opset of the node's domain is imported; onnx's checker refuses it, and onnxruntime for all but its own "
        "domains",
        "add the domain to opset_import of the model, or of the function around the node",
    ),
    "unnamed-output": ("an output that the operator always gives has no name; both refuse it", "give it a name"),
    # tensors.py
    "tensor-type": ("a tensor has no element type, or one that does not exist; both refuse it", "set data_type"),
    "tensor-shape": ("a tensor has a negative size, or too many elements to count; both refuse it", "mend its dims"),
    "tensor-data": (
        "the data of a tensor do not fit its type and shape; onnx's checker refuses too few and wrong fields, and "
        "onnxruntime any other number of a tensor that a node reads",
        "write the tensor again, as onnx.numpy_helper.from_array does",
    ),
    "sparse-tensor": (
        "a sparse tensor is malformed; onnx's checker refuses it, and onnxruntime unless only the order is wrong",
        "sort the indices and let them be within dims, one for each value",
    ),
    # functions.py
    "repeated-function": ("functions have one domain, name and overload; both refuse it", "give one an overload"),
    "recursive-function": ("functions call each other in a circle; both refuse it", "unroll the calls"),
    "function-opset": (
        "a function uses a domain of which it imports no opset, or one with another version of an operator than the "
        "model; onnx's checker refuses both, and onnxruntime the first",
        "import in the function the opset that the model imports",
    ),
    "function-signature": (
        "an input, output or attribute of a function is there twice or has no name, or no node of it gives an output; "
        "onnx's checker or onnxruntime refuses it",
        "mend the lists of names",
    ),
    "function-call": (
        "a call has more inputs or outputs than the function; onnxruntime refuses it",
        "give the call no more than the function has",
    ),
    "external-entry": (
        "the entries that say where a tensor's data are cannot be used; onnx or onnxruntime refuses them",
        "write location, offset and length once each, with plain numbers",
    ),
    "cut-weights": (
        "the data of a tensor are not within their file, or have another length; onnxruntime refuses them",
        "save the model with its weights again, or copy the whole file",
    ),
    "linked-weights": (
        "a file of weights is a symbolic link, or has several hard links; onnx refuses both, and onnxruntime a link "
        "out of the model's folder",
        "copy the file itself into the model's folder",
    ),
    "outside-weights": (
        "a file of weights is not in the model's folder or below it; onnx and onnxruntime refuse it",
        "copy it there, and let the location be relative",
    ),
    "missing-weights": ("a file of weights is missing, or is not a plain file", "put it where the model says"),
    # checking.py
    "refused-by-onnx": ("onnx's checker refuses the model for a reason that no other rule has", "see the message"),
}
"""Rule -> what is wrong and who refuses it, and the cure."""


NOTHING_FOUND = (
    f"no problems found: onnx's checker {onnx.__version__} accepts the model, as do all rules; not checked: "
    "sizes and element types, which inference checks, operators of other domains, and what kernels require, such as "
    "values of attributes"
)
"""What an empty list of findings says, if nothing is unseen."""


class Finding(NamedTuple):
    """What a rule found: the place (a graph, or a body by the nodes around it), and the name of a value or a file.

    `detail` is what it is in this case.
    """

    rule: str
    place: str
    name: str
    detail: str = ""

    @property
    def problem(self) -> str:
        """What is wrong, and which tool refuses it."""
        return RULES[self.rule][0]

    @property
    def cure(self) -> str:
        """What to do."""
        return RULES[self.rule][1]

    def __str__(self) -> str:
        detail = f"{self.detail}: " if self.detail else ""
        return printable(f"{self.rule}: {self.place}: {self.name!r}: {detail}{self.problem}; {self.cure}")


class Findings(list[Finding]):
    """All findings. `unseen` says what could not be looked at, of which an empty list says nothing."""

    def __init__(self, findings: list[Finding], unseen: list[str]) -> None:
        super().__init__(findings)
        self.unseen = tuple(unseen)
