"""One block of memory for the values of a model, with an offset for each value that is valid for all sizes.

    plan.py        ArenaPlan: the offsets for all sizes, and in numbers at given sizes
    parts.py       its parts: steps, storages, the places of values
    making.py      from a result to a plan
    sharing.py     values that share storage: views, and results in the place of an operand
    orders.py      the order of the nodes
    placing.py     an order of the values in memory, and the offsets that follow from it
    searching.py   the search of an order that is good at many sizes
    verifying.py   a second look at a plan
    annotating.py  a plan as metadata of the model
    largest.py     the largest size of a symbol within some memory

An order of the values in memory decides all offsets: a value lies above the end of every value below it that is live
at the same time. Two values that are live together are ordered, so no sizes can make them overlap. No proof and no
upper bound of sizes is needed.

Begin with `plan.py`.
"""
