"""Check-ins: places that people visited, as label sequences.

Open `foursquare` first: the global Foursquare files, or the embedded synthetic population
(`synthetic_checkins`) without them. `city_checkins` reads one city. The other modules are steps of
reading: the stream of rows, their times, venues, and the labels of venues.
"""
