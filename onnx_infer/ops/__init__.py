"""The operator families: one file each, loaded when one of its operators is looked up.

To add an operator, write its rule in the file of its family. To add a family, add a file. Then run
`python -m tests.onnx_infer.operator_table`, which writes the table of operators, `operators/schemas.txt`. `contrib/`
has the operators of onnxruntime's own domains.

The room uses `laws`, `elements`, `types` and `operators`, but neither the engine nor protobuf. Begin with `joining.py`.
"""
