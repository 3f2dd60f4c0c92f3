"""Two types of one value: their join, and the choice between them.

    join.py      the most specific type that covers two others: those of the turns of a Loop
    branches.py  the value of two branches, of which a condition decides one
    merge.py     inferred and declared types: the merge policies

The room uses `laws` and `values`. Begin with `merge.py`.
"""
