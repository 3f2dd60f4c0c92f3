"""A result as one page for a browser (docs/first_hour.md). The page computes all sizes by the emitted JavaScript.

page.py     the page, made of the assets, the code, its contents as JSON and the sizes at the start
assets/     the text of the page, its style, and its script in modules; begin with page.js
"""
