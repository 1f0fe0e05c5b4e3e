"""Attackers who do not share the scenario's model: they use what real answers look like.

Open `decoding` first: it takes noise of deficient rank off answers that lie on a lattice.
"""
