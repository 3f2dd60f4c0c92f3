"""Inference of models that other libraries hold in representations of their own; see `onnx_ir.py`."""
