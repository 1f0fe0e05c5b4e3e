"""Figures and tables, drawn from a tidy table alone: selection and drawing, no statistics.

Open `draw` first: it writes every figure of an experiment. One class a kind of figure:
`against_budget`, `against_parameter`, `by_mechanism`, `panels`, `ledger`, `estimates`,
`beside_published` (whose `published_values` are one CSV a table in `published/`). `crossing` finds
where two curves meet. `__main__` redraws from the store (``python -m bench.figures``).
"""
