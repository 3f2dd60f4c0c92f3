"""The front end of ModelProtos: reading them, and writing types back.

    reading.py         the view of a ModelProto                writing.py             types into a ModelProto
    nodes.py           nodes, and the graphs in them           declarations.py        the types that it declares
    wire.py            value infos as bytes                    former_names.py        names of an earlier inference
    specialize.py      symbols fixed or renamed                lint/                  what other tools refuse
    files.py           models and their weights as files   growing.py            a model that grows

The room uses `model` and `engine`. Begin with `reading.py`.
"""
