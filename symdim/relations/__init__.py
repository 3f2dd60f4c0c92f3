"""Relations of sizes, and their plain form: the one in which a person writes them.

    relation.py     relations of two sizes: texts, values, normal form; those of one variable as an interval
    laws.py         relations of quotients, extrema and products as relations of their parts
    solving.py      a relation as simpler ones, solved for a variable
    monotone.py     how an expression grows with its variable, and where it becomes >= 0

`Relation.spelled` alone makes their texts. `n % d == 0` is of the kind "divides", and "equal" in normal form, which
`as_remainder` of algebra/texts finds again. For a new kind see `RelationKind`.

The room uses `algebra` alone. Begin with `relation.py`.
"""
