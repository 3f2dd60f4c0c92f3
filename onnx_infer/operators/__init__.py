"""From a node to its rule.

    registration.py    the rule of an operator and version       schema.py             operator schemas as plain data
    rule.py            a registered rule, and its traits         known_schemas.py      schemas and families, recorded
    arguments.py       a rule's arguments, from a node           element_types.py      checks and types by a schema
    operator.py        the operators of an opset, with rules     context.py            rules of whole nodes
    verification.py    the check of a user's rule

The room uses `types`, `elements`, `model` and what is below them. Begin with `registration.py`.
"""
