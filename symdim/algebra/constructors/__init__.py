"""The constructors: only they build expressions, and these are canonical and interned.

Constructors know cheap laws, which make texts short and most equal expressions one object. The prover decides the rest.

    arithmetic.py       sums, products and powers          complements.py      sums with maxima, minima and halves
    extrema.py          maxima and minima                  long_division.py    division of sums by sums
    floordiv.py         division by a number               numerators.py       what is done to a numerator before
    by_expression.py    division by an expression          applications.py     applications of functions

The laws, for integers. A law whose condition is not known by intervals is not used. Those of maxima have
mirror images for minima. A test evaluates both sides at many points: they are equal wherever the condition holds, and
the condition is needed.

    law           file           sides                                                 condition
    multiples     floordiv       (q*d + x)//d = q + x//d                               d != 0
    content       floordiv       (g*x + r)//(g*d) = (x + r//g)//d                      g != 0 and d >= 1
    small part    numerators     (g*x + e)//(g*d) = x//d                               d >= 1 and 0 <= e < g
    nesting       numerators     (x//a + r)//d = (x + a*r)//(a*d)                      a != 0 and d >= 1
    reflection    numerators     -x//d = -1 - (x - 1)//d                               d >= 1
    interval      floordiv       x//d = k                                              0 <= x - k*d < d
    two values    floordiv       x//d = a//d + (b//d - a//d)*((x - a)//(b - a))        d != 0 and a != b and x in (a, b)
    factor        long_division  x*e//(d*e) = x//d                                     d != 0 and e != 0
    rounding      extrema        max(x, y)//d = max(x//d, y//d)                        d >= 1
    flattening    extrema        max(k*max(x, y) + z, t) = max(k*x + z, k*y + z, t)    k >= 0
    dominance     extrema        max(x, y) = x                                         x >= y
    mean          extrema        max(x, y, z) = max(x, y)                              2*z <= x + y + 1
    clamp         extrema        max(min(x, h), l) = min(max(x, l), h)                 l <= h
    shift         extrema        max(x + z, y + z) = max(x, y) + z                     always
    scale         extrema        max(k*x, k*y) = k*max(x, y)                           k >= 0
    mirror        extrema        max(-x, -y) = -min(x, y)                              always
    context       extrema        max(y, min(z, max(x, y))) = max(y, min(z, x))         always
    shared        extrema        max(min(x, y), min(x, z)) = min(x, max(y, z))         always
    complement    complements    max(x, y) + min(x, y) = x + y                         always
    halves        complements    x//(2*h) + (x + h)//(2*h) = x//h                      h != 0
    two clamps    complements    max(x, l) - max(x, h) + h = min(max(x, l), h)         l <= h

A new law is a row of this table, with `LookAlike`s without its condition in the table of laws in tests/symdim. The
number of files that import each other and the lines of the core are limited (tests of rooms).

Each constructor needs the others, so these files import one another, as modules, and use them in functions only.
Begin with `arithmetic.py`, then `floordiv.py` and `extrema.py`.
"""
