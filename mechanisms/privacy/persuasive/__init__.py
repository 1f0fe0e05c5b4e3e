"""Persuasive privacy: how much a Bayesian receiver's score may gain by a release."""
