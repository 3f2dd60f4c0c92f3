"""From a node to its rule.

    registration.py    which rule serves an operator and version       schema.py          operator schemas as plain data
    parameters.py      what the parameters of a rule ask for           arguments.py       the arguments, from a node
    operator.py        a rule bound to an operator's version           lookup.py          the operators of an opset
    verification.py    what a node owes its schema                     context.py         rules of whole nodes
    rule.py            a registered rule, as data                      calling.py         a rule as a function
    annotations.py     the annotations of a rule as text              later_schemas.py   what the installed onnx lacks
    results.py         what a rule gave, as a value

The room uses `types`, `elements`, `model` and what is below them. Begin with `registration.py`.
"""
