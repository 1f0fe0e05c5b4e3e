"""Tables of records.

Open `adult` first: UCI Adult, embedded. `user_table` is any CSV or parquet file, `column` one
numeric column of a table beside a column that holds the secret.
"""
