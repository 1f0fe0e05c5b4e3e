"""Attacks that rebuild a database, or an entry of it, from releases.

Open `collapse` first: exact reconstruction from repeated runs of `mechanisms.collapse`. `posterior`
is what a Bayesian attacker believes after several releases, `runs` how many releases it takes.
From noisy counts: `subset_counts` (a column), `chain_counts` (entries of a Markov chain) and
`daily_count` (one person in a count published every day). `guesses` and `bits_and_chains` make
attacks of the cross of them. `scores`: how much a guess gets right.
"""
