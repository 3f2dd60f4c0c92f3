"""Planning before a model runs.

planner.py         the sizes of all values as one compiled function
memory.py          the memory of live tensors over a schedule; envelope.py: its maximum as an expression
largest.py         the largest size of a symbol within some memory
layers.py          costs and memory by layer
costs.py           multiply-adds and parameters of nodes; multiply_adds.py: per operator
"""
