"""Quantities of curve studies: numbers computed against a parameter, no worlds and no attacks.

Open `wasserstein_metric` first, the smallest. `calibrated_noise` is the noise of any calibrated
mechanism, `scales` those of quilts and curves on two-state chains, `influence` the curves a(b),
`misspecified` what a claim is worth where the true curve is another one.
What a quantity must offer is the protocol `bench.study.curve.Quantity`.
"""
