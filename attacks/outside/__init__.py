"""Attackers who do not share the scenario's model: they use what real answers look like.

Open `decoding` first: it takes noise that spares a direction off answers that lie on a lattice
(`decoder` by enumeration, `list_decoder` in a reduced basis, `reduction`). `last_bits` asks which
answers can lead to a release in floating point (`reachable`), `domain` which values can be
printed at all.
"""
