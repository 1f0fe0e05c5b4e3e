"""Datasets: real records, each found in one place and pinned by its sha256.

Open `source` first: where a file is looked for. Then the folder of the data: `table` (records with
columns), `sequences` (labels of users in order, and the chains fitted to them), `checkins` and
`activities` (readers that end in the statistics of `sequences.sequence_statistics`). `data` holds
the embedded copies and their licences, `read_progress` shows how far a large file is read.
"""
