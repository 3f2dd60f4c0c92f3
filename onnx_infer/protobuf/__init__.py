"""The front end of ModelProtos: reading them, and writing types back.

    reading.py         the view of a ModelProto                writing.py             types into a ModelProto
    nodes.py           the nodes of a graph                    declarations.py        the types that it declares
    wire.py            value infos as bytes                    former_names.py        names of an earlier inference
    specialize.py      symbols fixed or renamed                schema_functions.py    the bodies of operator schemas
    external_data.py   files of weights beside a model         bodies.py              subgraphs
    files.py           models as files                         lint.py                what other tools refuse
    whole_files.py     files written completely or not

The room uses `model` and `engine`. Begin with `reading.py`.
"""
