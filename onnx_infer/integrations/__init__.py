"""Inference of models in the representations of other libraries.

    onnx_ir.py          the calls for `onnx_ir.Model`
    onnx_ir_reader.py   its front end
    onnx_ir_names.py    names for its values
    onnxruntime.py      the names and flags of onnxruntime's tool

The room uses `engine`, `results` and the readers of `protobuf`. Begin with `onnx_ir.py`.
"""
