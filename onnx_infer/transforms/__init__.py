"""Models changed by what inference knows of them.

    dynamic/    static sizes of inputs become free, and what pins them is found and changed

The room uses `results` and the front end in `protobuf`.
"""
