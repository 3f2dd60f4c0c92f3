"""From a node to its rule.

    registration.py    the rule of an operator and version       schema.py             operator schemas as plain data
    known_schemas.py   the schema of an operator at an opset     recorded_schemas.py   the schemas of onnx, a made table
    parameters.py      the meaning of a rule's parameters        arguments.py          the arguments, from a node
    operator.py        a rule bound to an operator's version     lookup.py             the operators of an opset
    verification.py    the check of a node against its schema    context.py            rules of whole nodes
    rule.py            a registered rule, as data                calling.py            a rule as a function
    annotations.py     the annotations of a rule as text         element_types.py      the types that a schema tells
    results.py         the results of a rule as values           families.py           the operators of each family
    missing.py         the cure of an operator without a rule    declared_parameters.py   the check of a user's rule

The room uses `types`, `elements`, `model` and what is below them. Begin with `registration.py`.
"""
