"""Inference of models in the representations of other libraries.

    onnx_ir.py          the calls for `onnx_ir.Model`
    onnx_ir_reader.py   its front end
    onnx_ir_names.py    names for its values
    onnx_ir_nodes.py    nodes one by one
    onnx_ir_folding.py  known values as constants, and folding as a pass
    symbolic_dim.py     the arithmetic of `onnx_ir.SymbolicDim`, in place of SymPy
    replacing.py        this package in place of another, for the time of a block
    onnxruntime.py      the names and flags of onnxruntime's tool
    onnxscript.py       inference inside onnxscript's optimizer and builders
    spox.py             inference inside spox's constructors
    torch.py            what torch knows of the sizes of a program

The room uses `engine`, `results` and the readers of `protobuf`. Begin with `onnx_ir.py`.
"""
