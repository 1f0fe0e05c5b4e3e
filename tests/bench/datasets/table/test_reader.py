"""Formats and options of the one reader."""

import datetime
import decimal
import gzip
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.datasets.source import DataError
from bench.datasets.table.table_file import TableFile
from bench.scenarios.numeric_table import numeric_table

ROWS = "age,label\n1,a\n2,NA\n3,b\n"


@pytest.fixture
def write(tmp_path):
    def written(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return written


def read(path, *columns, **options):
    return TableFile(path=path, **options).read(*columns)


def listed(table, column):
    return table.text(column).to_pylist()


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.zip", "table.dat"])
def test_plain_gzip_and_zip_are_read_alike(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("inner/table.csv", ROWS)
            archive.writestr("__MACOSX/inner/._table.csv", "junk")
    else:
        path.write_bytes(gzip.compress(ROWS.encode()) if name.endswith(".gz") else ROWS.encode())
    table = read(str(path), "label", "age")
    assert listed(table, "label") == ["a", "NA", "b"]
    assert table.numbers("age").tolist() == [1, 2, 3]
    assert table.notes == (f"{name}: 3 rows",)


def test_a_packed_file_of_any_name_is_told_by_its_first_bytes(write):
    assert len(read(write(gzip.compress(ROWS.encode())), "age")) == 3
    with pytest.raises(DataError, match=r"table.csv.gz is damaged: it does not begin as its end"):
        read(write(ROWS, "table.csv.gz"), "age")


def test_tabs_are_expected_where_the_name_says_so(write):
    tabbed = ROWS.replace(",", "\t")
    assert len(read(write(tabbed, "t.tsv"), "age")) == 3
    assert len(read(write(tabbed, "t.txt"), "age", separator="tab")) == 3
    assert len(read(write(tabbed, "t.txt"), "age", separator="\\t")) == 3
    assert len(read(write(ROWS.replace(",", "|")), "age", separator="|")) == 3
    with pytest.raises(DataError, match=r"unknown column 'age';.*set its separator"):
        read(write(tabbed, "t.txt"), "age")


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (b"PK", "t.xlsx", "a workbook"), (b"\xd0\xcf\x11\xe0", "t.csv", "an Excel workbook"),
        (b"{}", "t.json", "a JSON file"), (b"BZh9", "t.csv", "a bzip2 archive"),
        (b"", "t.csv.bz2", "an archive of another kind"), (b"ARROW1\0\0", "t.bin", "an Arrow file"),
        (b"SQLite format 3\0", "t.db3", "a SQLite database"), (b"", "t.sav", "a file of a stat"),
        (b"\x93NUMPY", "t.csv", "a NumPy array"), (b"", "t.tar.gz", "an archive of another kind"),
        (b"\x89HDF\r\n", "t.csv", "an HDF5 file"), (b"", "t.dta", "a file of a statistics"),
    ],
)  # fmt: skip
def test_another_format_is_refused_with_what_to_convert_to(write, content, name, kind):
    with pytest.raises(DataError, match=f"is {kind}") as error:
        read(write(content, name), "age")
    assert str(error.value).endswith("convert it to CSV or TSV (plain, .gz or .zip) or to Parquet.")


def test_a_workbook_named_csv_and_an_archive_of_two_are_refused(tmp_path):
    for names, said in (
        (["[Content_Types].xml", "xl/sheet1.xml"], "is a workbook"),
        (["a.csv", "b.csv"], "must hold one file, got 2: a.csv, b.csv"),
        ([], "must hold one file, got 0: none"),
    ):
        path = tmp_path / "t.csv"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, ROWS)
        with pytest.raises(DataError, match=said):
            read(str(path), "age")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"separator": ";;"}, "separator must be one character or tab, got separator=';;'"),
        ({"separator": "§"}, "separator must be one character or tab"),
        ({"separator": '"'}, "separator must be one character or tab"),
        ({"encoding": "utf-99"}, "encoding must be one that Python knows, got 'utf-99'"),
        ({"encoding": "base64"}, "encoding must be one that Python knows, got 'base64'"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got decimal=';'"),
        ({"names": "age"}, "names must be a list, got names='age'"),
        ({"missing": "?"}, "missing must be a list, got missing='?'"),
        ({"missing": [1.5]}, "missing must be a string, a whole number or true/false"),
        ({"path": None}, "path must name a CSV, TSV or parquet file, got path=None"),
    ],
)
def test_options_that_do_not_exist_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        TableFile(**({"path": "t.csv"} | options))


def test_missing_values_are_those_that_are_declared(write):
    path = write("a,b,c\n1,NA,x\n2,?,y\n3,None,\n")
    assert listed(read(path, "a"), "a") == ["1", "2", "3"]
    with pytest.raises(DataError, match=r"column 'b' has 1 missing .* in data row 2 \(\?\); leave"):
        read(path, "b")
    assert listed(read(path, "b", missing=[""]), "b") == ["NA", "?", "None"]
    with pytest.raises(DataError, match=r"column 'b' has 2 missing .* first in data row 1 \(NA\)"):
        read(path, "b", missing=["NA", "None"])
    with pytest.raises(DataError, match=r"column 'c' has 1 missing .* in data row 3 \(nothing\)"):
        read(path, "c")
    assert listed(read(path, "c", missing=[]), "c") == ["x", "y", ""]


def test_columns_are_named_by_texts_whole_numbers_and_true(write):
    path = write("2020,true,1.50\n1,2,3\n")
    assert read(path, 2020).numbers(2020).tolist() == [1]
    assert listed(read(path, True), True) == ["2"]
    with pytest.raises(ValueError, match=r"column must be .* got 1.5: .* column=\"'1.5'\""):
        read(path, 1.5)
    assert listed(read(path, "1.50"), "1.50") == ["3"]


def test_names_of_columns_that_look_alike_are_different_ones(write):
    path = write("age,Age,age \n1,2,3\n")
    assert listed(read(path, "age ", "Age"), "Age") == ["2"]
    with pytest.raises(DataError, match=r"unknown column 'AGE'; did you mean Age\?|there are"):
        read(path, "AGE")
    assert listed(read(write("a,,\n1,2,3\n"), "a"), "a") == ["1"]  # nobody asks for no name


def test_a_header_with_a_blank_after_every_separator(write):
    assert listed(read(write("a, b, c\n1, x, y\n"), "b"), "b") == ["x"]
    assert listed(read(write('a, "b, c"\n1, "x, y"\n'), "b, c"), "b, c") == ["x, y"]


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        ([1, 2, None], pa.int64(), ["1", "2"]), ([1.0, 2.5], pa.float64(), ["1", "2.5"]),
        ([True, False], pa.bool_(), ["true", "false"]), (["01", "NA"], pa.string(), ["01", "NA"]),
        ([decimal.Decimal("1.50"), decimal.Decimal("-0.05")], pa.decimal128(5, 2),
         ["1.50", "-0.05"]),
        ([datetime.date(2024, 1, 2)], pa.date32(), ["2024-01-02"]),
        ([datetime.datetime(2024, 1, 2, 3, 4, 5)], pa.timestamp("ms"), ["2024-01-02 03:04:05.000"]),
        ([b"ab"], pa.binary(), ["ab"]), (["a", "b"], pa.large_string(), ["a", "b"]),
    ],
)  # fmt: skip
def test_parquet_of_any_plain_type_is_read_as_its_text(tmp_path, values, kind, texts):
    path = str(tmp_path / "t.parquet")
    column = pa.array(values, kind)
    pq.write_table(pa.table({"x": column.drop_null(), "y": range(len(column.drop_null()))}), path)
    assert listed(read(path, "x"), "x") == texts
    as_category = column.drop_null().dictionary_encode()
    pq.write_table(pa.table({"x": as_category}), path)
    assert listed(read(path, "x"), "x") == texts
    if column.null_count:
        pq.write_table(pa.table({"x": column}), path)
        with pytest.raises(DataError, match="column 'x' has 1 missing values"):
            read(path, "x")


def test_parquet_times_with_zones_are_moments(tmp_path):
    path = str(tmp_path / "t.pq")
    moments = pd.to_datetime(["2024-03-31T00:30Z", "2024-03-31T01:30Z"])
    pd.DataFrame({"t": moments.tz_convert("Europe/Berlin"), "u": moments}).to_parquet(path)
    table = read(path, "t", "u")
    assert table.order("t").tolist() == table.order("u").tolist()
    nanoseconds, told = table.clock("t")
    assert np.diff(nanoseconds).tolist() == [3600 * 10**9]
    assert told == "column 't': times with offsets read as moments"


def test_parquet_refuses_nested_columns_text_options_and_damage(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [[1], [2]], "y": [1, 2]}), path)
    with pytest.raises(DataError, match="column 'x' must hold single values, got list"):
        read(str(path), "x")
    for option in ({"separator": ";"}, {"encoding": "latin-1"}, {"decimal": ","}, {"names": ["a"]}):
        with pytest.raises(DataError, match=f"is Parquet: {next(iter(option))} is of text"):
            read(str(path), "y", **option)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 37):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="is damaged or no Parquet"):
            read(str(path), "y")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(twice, path)
    with pytest.raises(DataError, match="column 'x' occurs twice, as columns 1 and 2"):
        read(str(path), "x")


def test_a_boolean_matches_in_any_format(tmp_path):
    frame = pd.DataFrame({"t": [True, False, True]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        labels = read(str(tmp_path / name), "t").labels("t")
        for given in (True, "True", "true"):
            assert labels.are(labels.find("value", given)[0]).tolist() == [True, False, True]


@pytest.mark.parametrize("content", [b"a,b\n1,\0\n", "a,b\n1,x\n".encode("utf-16-le")])
def test_bytes_that_are_no_text_are_refused(write, content):
    with pytest.raises(DataError, match="it holds the byte 0; set its encoding, such as utf-16"):
        read(write(content), "a")


def test_no_file_no_rows_and_folders_are_one_line(tmp_path, write):
    with pytest.raises(DataError, match=r"no file .*nowhere.csv"):
        read(str(tmp_path / "nowhere.csv"), "a")
    with pytest.raises(DataError, match=r"no file .*nowhere.parquet"):
        read(str(tmp_path / "nowhere.parquet"), "a")
    with pytest.raises(DataError, match=r"cannot read .*: Is a directory"):
        read(str(tmp_path), "a")
    with pytest.raises(DataError, match=r"has no rows"):
        read(write("a,b\n"), "a")
    with pytest.raises(DataError, match=r"is empty: no header, no rows"):
        read(write("\n\n"), "a")
    with pytest.raises(DataError, match="no table embedded:nothing in this package"):
        read("embedded:nothing", "a")


def test_what_is_read_does_not_depend_on_what_stands_elsewhere(write):
    """600,000 rows of 0 and 1 and one X near the end: 1 is found as often as it is written."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, 600_000)
    texts = bits.astype("U1")
    texts[599_000] = "X"
    path = write("id,flag\n" + "\n".join(f"{i},{t}" for i, t in enumerate(texts)) + "\n")
    labels = read(path, "flag").labels("flag")
    assert labels.are("1").sum() == (texts == "1").sum()
    assert sorted(labels.names) == ["0", "1", "X"]
    made = numeric_table(path=path, column="flag", value=1, means=["id"], shares=[0.1, 0.1])
    made.check()
    assert made.properties["flag"].feature(made.data.records).sum() == (texts == "1").sum()


def test_blocks_of_a_large_file_are_those_of_the_whole(write):
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(200_000))
    file = TableFile(path=write("n,x\n" + rows))
    blocks = list(file.batches("x"))
    assert sum(len(block) for block in blocks) == 200_000
    assert sum(block.labels("x").are("a").sum() for block in blocks) == 100_000
    quoted = TableFile(path=write('n, "x"\n1, "a"\n'))
    with pytest.raises(DataError, match="has a blank between a separator and a quote"):
        list(quoted.batches("x"))
