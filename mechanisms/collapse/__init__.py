"""Mechanisms that leak nothing, or little, once and everything when they are run again.

Open `decoy` first (the database beside a decoy), then `case_pair` and `parity`. `listed` computes
their exact leakage on small databases, `calibrate` sets them up for a scenario's prior; `nfc` holds
the constraints that are necessary for linear composition (Bai et al., 2026), and what repeating
costs.
"""
