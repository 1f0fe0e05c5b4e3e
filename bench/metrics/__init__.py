"""Metrics: what is estimated from attack scores and from releases, with intervals.

Open `base` first: what the harness asks of a metric. `attack` holds metrics of scores (`roc` their
curves), `utility` errors of releases against answers, `ranking` metrics of top-K rankings, `cells`
what is revealed and lost of suppressed tables, `guesses` how good guesses of a database are.
"""
