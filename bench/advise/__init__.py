"""Which mechanism for my table: a target in, a recommendation and one release out.

Open `study` first: the cross that finds each mechanism's budgets itself and measures the choice
again. `target` is what is asked for, `budgets` turns a calibration to it, `candidate` says whether
a measured cell meets it, `advice` is the recommendation in words. `publish` is the other study: one
release to a file.
"""
