"""A model as the engine sees it: without protobuf. A front end fills it.

    graph.py         the view of a model: graphs, nodes, functions     attributes.py    attributes as plain values
    symbols.py       reading the dim_params of a model                 size_texts.py    the texts of sizes
    given.py         assumptions about symbols                         input_values.py  elements given for inputs
    input_shapes.py  shapes given for inputs, what stands for symbols
    contract.py      what a file says of sizes in its metadata         torch_ranges.py  what torch leaves there

The room uses `values`. Begin with `graph.py`.
"""
