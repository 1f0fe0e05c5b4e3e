"""Tables made in memory, for tests of what is done with their columns."""

import pyarrow as pa

from bench.datasets.table.text_table import TextTable


def text_table(frame):
    """Return a data frame as the reader would return it from a CSV."""
    columns = {str(c): pa.chunked_array([pa.array(map(str, frame[c]), pa.string())]) for c in frame}
    return TextTable(path="table", columns=columns, notes=(f"table: {len(frame)} rows",))
