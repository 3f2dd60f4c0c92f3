"""A result as one page for a browser (docs/report.md). The page computes all sizes itself, by the emitted JavaScript.

page.py     the page, made of the assets, the data and the code
data.py     what the page shows, as JSON                      start.py    the sizes with which it opens
assets/     the text of the page, its style, and its script in modules; begin with page.js
"""
