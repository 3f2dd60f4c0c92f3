"""Planning before a model runs.

planner.py     the sizes of all values as one compiled function
memory.py      the memory of live tensors over a schedule    envelope.py         its maximum as an expression
costs.py       costs of nodes and layers                     largest.py          the largest size within some memory

Begin with `memory.py`.
"""
