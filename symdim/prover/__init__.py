"""The layers behind `symdim.prove`, cheapest first.

`hypotheses` turns facts into a problem; `differences` decides chains of differences by shortest paths;
`residues` and `linear` decide what gcds and rational arithmetic decide;
`ordering` compares quotients and maxima by their parts; `nesting` takes merged divisions apart; `cases` splits on max,
floor divisions and remainders; `axioms` adds what quotients and maxima imply, `products` products of constraints;
`elimination` solves for variables;
`witness` looks for a counterexample; `search` runs them in turn under a `budget`.
`simplification` is `simplify(expr, facts)`.
"""
