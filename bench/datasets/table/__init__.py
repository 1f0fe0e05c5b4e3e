"""Tables of records: one reader for every file.

Open `table_file` first: a CSV, TSV or Parquet file and its options. `opening`, `utf8_stream`,
`delimited` and `parquet_text` turn its bytes into columns of text; `text_table` converts these by
need (`labels`, `numbers`, `times`). `adult` is UCI Adult, embedded. `contingency` makes tables of
counts of records, `count_file` reads them.
"""
