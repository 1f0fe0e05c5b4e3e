"""Quantities of curve studies: numbers computed or estimated against a parameter.

Open `wasserstein_metric` first, the smallest. `calibrated_noise` is the noise of any calibrated
mechanism, `scales` those of quilts and curves on two-state chains, `influence` the curves a(b),
`misspecified` what a claim is worth where the true curve is another one. `collapse`,
`subset_bits`, `chain_entries` and `daily_count` are estimated from trials. `two_point` finds
differential privacy inside persuasive privacy. What a quantity must offer is the protocol
`bench.study.curve.Quantity`.
"""
