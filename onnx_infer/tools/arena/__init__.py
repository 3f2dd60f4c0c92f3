"""One block of memory for the values of a model, with an offset for each value that is valid for all sizes.

    plan.py        ArenaPlan: the offsets for all sizes, and in numbers at given sizes, as metadata
    making.py      from a result to a plan
    sharing.py     the parts of a plan, and values that share storage
    placing.py     an order of the values in memory, and the offsets that follow from it
    searching.py   the order of the nodes, and the search of an order of values that is good at many sizes
    largest.py     the largest size of a symbol within some memory

An order of the values in memory decides all offsets: a value lies above the end of every value below it that is live
at the same time. Two values that are live together are ordered, so no sizes can make them overlap. No proof and no
upper bound of sizes is needed.

Begin with `plan.py`.
"""
