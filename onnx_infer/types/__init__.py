"""Two types of one value: their join, and the choice between them.

    join.py     the most specific type that covers two others: those of the branches of an If, the turns of a Loop
    merge.py    inferred and declared types: the merge policies

The room uses `laws` and `values`. Begin with `merge.py`.
"""
