"""Additive noise for (Renyi) Pufferfish privacy: costs, calibrations and exact divergences."""
