"""Two types of one value: what they have in common, and which one counts.

    join.py     the least general type that covers two others: the branches of an If, the turns of a Loop
    merge.py    inferred against declared types: the merge policies

The room uses `laws` and `values`. Begin with `merge.py`.
"""
