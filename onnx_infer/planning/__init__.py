"""What a runtime plans before it runs a model: sizes of all values, memory over a schedule, the cost of nodes."""
