"""What every step of a run shares.

Open `cell` first: a cell is one point of the benchmark, with the key under which its numbers are
recorded. `randomness` makes the named random streams, `intervals` the estimates with their
confidence intervals, `code_fingerprint` hashes the code that a component of one's own is made from.
`labels` refuses labels that a file could not tell apart, `entry_rows` finds a ledger entry's rows.
"""
