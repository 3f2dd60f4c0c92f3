"""From text to an expression; `symdim.parsing` is the way in.

`tokens`, the `grammar` (a function per production), the `functions` it knows (floor, ceiling, Mod, Max ...) and
`rational` numbers for text in which `/` is exact. `shapes` reads whole shapes.
"""
