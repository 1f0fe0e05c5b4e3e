"""The harness: from one command to recorded cells, tables and figures.

Open `docs/architecture.md` first, then `bench.study.cross`. The packages follow the way of a run:
`config` composes it, `study` lists cells and computes one, `sweep` runs them, `store` records them,
`leaderboard` and `figures` draw from the store. `publish` answers one question about one table.
`scenarios`, `datasets`, `metrics` and `quantities` hold components; `core` what all of these share.
"""
