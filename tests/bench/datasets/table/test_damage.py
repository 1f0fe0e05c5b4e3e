"""A table that is damaged in a known way is read as it was meant, or refused in one line."""

import csv
import gzip
import io
import zipfile
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.datasets.table.table_file import TableFile
from tests.bench.datasets.table.damage import HEADER, ROWS, csv_of, expected, refused, values

# The folder of a test is shared by its examples, each of which writes its file anew.
few = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
data = st.data()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "table.csv"


@few
@given(ROWS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_clean_table_is_read_as_it_was_written(file, rows, end):
    file.write_text(csv_of(rows, end=end), newline="")
    assert values(file) == expected(rows)


@few
@given(ROWS, data, st.booleans())
def test_trailing_separators(file, rows, draw, header_too):
    """Some rows or all end in a separator; where the header does too, the column has no name."""
    ends = draw.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    header, *lines = csv_of(rows).splitlines()
    lines = [f"{line}," if end else line for line, end in zip(lines, ends, strict=True)]
    file.write_text("\n".join([f"{header}," if header_too else header, *lines]) + "\n")
    found = values(file)
    if all(end == header_too for end in ends):
        assert found == expected(rows)
    else:
        assert refused(found)
        row = 1 + next(i for i, end in enumerate(ends) if end != header_too)
        assert f"data row {row} has" in found


@few
@given(ROWS, st.permutations(range(4)), st.sampled_from(HEADER))
def test_a_column_that_stands_twice(file, rows, order, name):
    header = [HEADER[i] for i in order]
    twice = [[*(row[i] for i in order), row[HEADER.index(name)]] for row in rows]
    file.write_text(csv_of(twice, header=[*header, name]))
    found = values(file)
    assert refused(found)
    assert f"column {name!r} occurs twice" in found


@few
@given(ROWS, data, st.sampled_from(["more", "fewer"]))
def test_a_ragged_row(file, rows, draw, kind):
    bad = draw.draw(st.integers(0, len(rows) - 1))
    place = draw.draw(st.integers(0, 3))
    ragged = [list(row) for row in rows]
    if kind == "more":
        ragged[bad].insert(place, draw.draw(st.sampled_from(["", "7", "x"])))
    else:
        ragged[bad].pop(place)
    file.write_text(csv_of(ragged))
    found = values(file)
    assert refused(found)
    assert f"data row {bad + 1} has" in found


@few
@given(st.lists(st.sampled_from(["1", "01", "1.0", "001", "+1", "1e0"]), min_size=1, max_size=20))
def test_padded_labels_are_as_many_as_are_written(file, labels):
    file.write_text(csv_of([[label] for label in labels], header=["label"]))
    found = TableFile(path=str(file)).read("label").labels("label")
    assert dict(zip(found.names, found.counts.tolist(), strict=True)) == Counter(labels)


@few
@given(
    st.lists(st.sampled_from(["yes", "yes ", "\tyes", "Yes", "yes.", "YES .", "no"]),
             min_size=1, max_size=20),
)  # fmt: skip
def test_white_space_case_and_final_dots_are_told_and_never_merged(file, labels):
    rows = [["1", label] for label in labels]
    file.write_text(csv_of(rows, header=["n", "label"]))
    found = TableFile(path=str(file)).read("label").labels("label")
    assert dict(zip(found.names, found.counts.tolist(), strict=True)) == Counter(labels)
    alike = {label for label in labels if label != "no"}
    told = "; ".join(found.notes)
    assert bool(found.notes) == (len(alike) > 1)
    for label in alike if len(alike) > 1 else ():
        assert f"{label!r} ({labels.count(label)} rows)" in told


@few
@given(ROWS, st.booleans())
def test_a_blank_after_every_separator(file, rows, all_rows):
    """Quotes and all; told, and part of the format only where every row has it."""
    header, *lines = csv_of(rows, separator="\x1f").splitlines()
    spaced = [line.replace("\x1f", ", ") for line in lines]
    if not all_rows:
        spaced.append(lines[0].replace("\x1f", ","))
    file.write_text("\n".join([header.replace("\x1f", ","), *spaced]) + "\n")
    plain = [row for row in rows if "," not in row[2]]
    if len(plain) < len(rows):  # a comma inside a label is a separator here
        return
    found = values(file)
    meant = expected(rows if all_rows else [*rows, rows[0]])
    if all_rows:
        assert found == meant
        told = TableFile(path=str(file)).read("label").notes[-1]
        assert told == "a blank after every separator is left out of label"
    else:
        assert refused(found) or found[0] == meant[0]
        assert refused(found) or found[1] == [f" {label}" for label in meant[1][:-1]] + meant[1][:1]


@few
@given(ROWS)
def test_a_blank_before_quoted_fields(file, rows):
    lines = [
        ", ".join('"' + value.replace('"', '""') + '"' for value in row) for row in [HEADER, *rows]
    ]
    file.write_text("\n".join(lines) + "\n")
    assert values(file) == expected(rows)


@few
@given(
    ROWS,
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]),
    st.sampled_from(["utf-8", "utf-16", "latin-1", "cp1252"]),
    st.booleans(),
)
def test_another_encoding_than_the_stated_one(file, rows, written, stated, euro):
    if euro:
        rows = [[*row[:2], "€ ß", row[3]] for row in rows]
        if written == "latin-1":
            return
    file.write_bytes(csv_of(rows).encode(written))
    found = values(file, encoding=stated)
    if written.removesuffix("-sig") == stated:
        assert found == expected(rows)
    else:
        assert refused(found) or found == expected(rows)


@few
@given(ROWS, st.sampled_from([",", "."]), st.sampled_from([",", "."]))
def test_another_decimal_sign_than_the_stated_one(file, rows, written, stated):
    signed = [[row[0], row[1].replace(".", written), *row[2:]] for row in rows]
    file.write_text(csv_of(signed, separator=";"))
    found = values(file, decimal=stated, separator=";")
    if written == stated:
        assert found == expected(rows)
    else:
        assert (refused(found) and f"decimal={written!r}" in found) or found == expected(rows)


NO_NUMBERS = (
    "1,234.5", "1.234,5", "(5)", "5-", "−5", "1_000", "0x1F", "5%", "٣", "1 234", "inf", "nan",
    "1e", "--5", "True", "1'000",
)  # fmt: skip


@pytest.mark.parametrize("bad", NO_NUMBERS)
@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_in_no_stated_convention_name_row_and_column(file, bad, decimal):
    file.write_text(f"n;x\n1;5\n2;{bad}\n", encoding="utf-8")
    table = TableFile(path=str(file), separator=";", decimal=decimal).read("x")
    with pytest.raises(ValueError, match=r"column 'x' must hold finite numbers .* in data row 2"):
        table.numbers("x")


def packed(content, kind):
    if kind == "gz":
        return gzip.compress(content)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("table.csv", content)
    return archive.getvalue()


@settings(few, max_examples=120)
@given(ROWS, data, st.sampled_from(["gz", "zip"]), st.sampled_from(["cut", "flipped", "more"]))
def test_a_damaged_archive(tmp_path, rows, draw, kind, damage):
    whole = packed(csv_of(rows).encode(), kind)
    place = draw.draw(st.integers(0, len(whole) - 1))
    if damage == "cut":
        bad = whole[:place]
    elif damage == "flipped":
        bit = 1 << draw.draw(st.integers(0, 7))
        bad = whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
    else:
        bad = whole + b"\x01more"
    file = tmp_path / f"table.csv.{kind}"
    file.write_bytes(bad)
    found = values(file)
    assert refused(found) or found == expected(rows)
    if damage == "cut":
        assert refused(found)
    file.write_bytes(whole)
    assert values(file) == expected(rows)


@few
@given(st.lists(st.sampled_from(["True", "False", "true", "false", "TRUE", "t"]), min_size=1))
def test_true_and_false_in_one_way_or_refused(file, flags):
    file.write_text(csv_of([[str(i), flag] for i, flag in enumerate(flags)], header=["n", "flag"]))
    labels = TableFile(path=str(file)).read("flag").labels("flag")
    written = {flag for flag in flags if flag.lower() == "true"}
    if len(written) == 1:
        label, note = labels.find("value", True)
        assert labels.are(label).sum() == flags.count(*written)
        assert bool(note) == (label != "True")
    else:
        with pytest.raises(ValueError, match="value") as error:
            labels.find("value", True)
        assert "in quotes within quotes" in str(error.value)
    for flag in set(flags):
        assert labels.are(labels.find("value", flag)[0]).sum() == flags.count(flag)


@few
@given(ROWS, st.integers(40, 200))
def test_chunk_boundaries_change_nothing(file, rows, block):
    file.write_bytes(csv_of(rows, end="\r\n").encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bench.datasets.table.delimited.BLOCK", block)
        patch.setattr("bench.datasets.table.utf8_stream.BLOCK", block)
        found = values(file)
    assert found == expected(rows) or (refused(found) and "block" in found)


@few
@given(ROWS, data, st.sampled_from(['"', '"x', '"x"y']))
def test_a_quote_that_does_not_close(file, rows, draw, quote):
    lines = csv_of(rows).splitlines()
    bad = draw.draw(st.integers(1, len(rows)))
    fields = rows[bad - 1][:]
    lines[bad] = ",".join([fields[0], fields[1], quote, fields[3]])
    file.write_text("\n".join(lines) + "\n")
    found = values(file)
    meant = [[*row] for row in rows]
    meant[bad - 1][2] = "xy"
    assert refused(found) or found == expected(meant)


@few
@given(ROWS, data)
def test_blank_lines_and_line_breaks_inside_fields_are_told(file, rows, draw):
    text = csv_of([*rows, ["7", "8", "two\nlines", "9"]])
    blank = draw.draw(st.integers(0, 3))
    file.write_text(text + "\n" * blank)
    table = TableFile(path=str(file)).read("age", "label")
    assert table.text("label")[len(rows)].as_py() == "two\nlines"
    assert "1 rows with a line break inside a field" in table.notes
    assert (f"{blank} blank lines left out" in table.notes) == (blank > 0)


@few
@given(ROWS)
def test_a_file_without_header_needs_names(file, rows):
    file.write_text(csv_of(rows, header=None))
    assert values(file, names=HEADER) == expected(rows)
    assert refused(values(file))
    file.write_text(csv_of(rows))
    assert "has a header of its own" in values(file, names=HEADER)


PIECES = st.lists(
    st.sampled_from(["a", "1", ",", '"', "\n", "\r", " ", '""', "\r\n", '"a,b"', '"a\nb"', '"a"b']),
    min_size=1, max_size=14,
).map("".join)  # fmt: skip


@settings(few, max_examples=300)
@given(PIECES, st.integers(1, 3))
def test_any_text_is_read_as_the_standard_library_reads_it_or_refused(file, body, width):
    names = "xyz"[:width]
    text = f"{','.join(names)}\n{body}"
    file.write_text(text, newline="")
    try:
        table = TableFile(path=str(file), missing=()).read(*names)
    except ValueError:
        return
    rows = list(csv.reader(io.StringIO(text.replace(', "', '," '), newline="")))[1:]
    rows = [row or [""] for row in rows if row or width == 1]
    assert {len(row) for row in rows} == {width}
    for place, name in enumerate(names):
        column = [row[place] for row in rows]
        if place and all(value.startswith(" ") for value in column):
            column = [value[1:] for value in column]
        assert table.text(name).to_pylist() == column
