"""What a runtime plans before it runs a model.

planner.py         the sizes of all values as one compiled function
memory.py          the memory that live tensors take over a schedule; envelope.py: its maximum as an expression
costs.py           multiply-adds, and parameters of nodes; multiply_adds.py: operator by operator
"""
