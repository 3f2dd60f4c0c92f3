"""What `python -m onnx_infer` shows.

    report.py    tables, explanations and JSON
    demo.py      the model of `--demo`

The room uses the results of an inference. The call itself is `__main__` on the top.
"""
