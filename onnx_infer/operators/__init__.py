"""From a node to its rule.

    registration.py    the rule of an operator and version       schema.py             operator schemas as plain data
    rule.py            a registered rule, and its facets         families.py           the operators of each family
    known_schemas.py   the schema of an operator at an opset     arguments.py          a rule's arguments, from a node
    operator.py        a rule bound to an operator's version     element_types.py      checks and types by a schema
    verification.py    the check of a user's rule                context.py            rules of whole nodes

The room uses `types`, `elements`, `model` and what is below them. Begin with `registration.py`.
"""
