"""Activities: what people do from one window or event to the next, as label sequences.

Open `capture24` first: wrist-worn recordings, or the synthetic population of
`synthetic_activities` without them. `recorded_activities` holds smartphone activities and careers
(`mvad`), `home_activities` those of homes (`home_files` reads their format).
"""
