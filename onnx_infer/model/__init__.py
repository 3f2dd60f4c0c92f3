"""What a front end gives to the engine: a model without protobuf.

    graph.py         the view of a model: graphs, nodes, functions     attributes.py         attributes as plain values
    symbols.py       how the dim_params of a model are read            declared_bounds.py    intervals in the metadata
    given.py         what is said of its symbols beforehand
    input_values.py  elements that a caller gives for inputs

The room uses `values`. Begin with `graph.py`.
"""
