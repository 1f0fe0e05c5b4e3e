"""Ranked comparison of mechanisms at equal budget, from the store alone.

Open `ranking` first: from a tidy table to ranked lines. `__main__` is the command
(``python -m bench.leaderboard``), `terminal` prints.
"""
