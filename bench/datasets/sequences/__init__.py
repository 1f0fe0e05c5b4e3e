"""Label sequences of users, and the Markov chains fitted to them.

Open `sequence_statistics` first: what the ranking study keeps of sequences, whatever they come
from. `sequence_file` reads a table of (user, time, label, group); `chains` holds sources of chains
(given, fitted, read), `real_chains` those of recordings.
"""
