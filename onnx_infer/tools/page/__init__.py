"""A result as one page for a browser (docs/report.md). The page computes all sizes itself, by the emitted JavaScript.

page.py     the page, made of the assets, the data and the code
data.py     the contents of the page, as JSON                 start.py    the sizes at the start
assets/     the text of the page, its style, and its script in modules; begin with page.js
"""
