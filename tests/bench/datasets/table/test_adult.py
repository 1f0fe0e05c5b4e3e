import gzip
import hashlib
import socket
import zlib
from importlib import resources

import pooch
import pytest

from bench.datasets.source import DATA_VARIABLE, DataError, SourceFile, digest_of
from bench.datasets.table.adult import COLUMNS, NUMERIC, TEST, TRAIN, Adult, parse

ROW = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
    b"Male, 2174, 0, 40, United-States, <=50K\n"
)
RICH = ROW.replace(b"<=50K", b">50K").replace(b"39,", b"50,")
COMMENT = b"|1x3 Cross validator\n"
LABELLED = ROW.replace(b"\n", b".\n")


@pytest.fixture(scope="module")
def adult():
    return Adult()


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError(f"a test went to the network: {args} {kwargs}")

    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(pooch, "retrieve", refuse)


def written(folder, train=ROW + RICH, test=COMMENT + LABELLED, suffix=""):
    folder.mkdir(exist_ok=True)
    packed = gzip.compress if suffix else bytes
    (folder / f"adult.data{suffix}").write_bytes(packed(train))
    (folder / f"adult.test{suffix}").write_bytes(packed(test))
    return folder


def refused(call):
    with pytest.raises(DataError) as found:
        call()
    text = str(found.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_the_embedded_copy_has_the_published_counts(adult):
    table = adult.records
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 45_222
    assert table.labels("income").are(">50K").sum() == 11_208
    assert table.labels("workclass").are("Private").sum() == 33_307
    assert set(table.labels("income").names) == {"<=50K", ">50K"}
    assert not any("?" in table.labels(column).names for column in COLUMNS)
    assert not any(name != name.strip() for c in COLUMNS for name in table.labels(c).names)
    assert table.notes == (
        "adult.data: 30162 of 32561 rows complete", "adult.test: 15060 of 16281 rows complete",
    )  # fmt: skip


def test_numeric_columns_lie_in_the_public_ranges(adult):
    ranges = {"age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99)}
    for column, (low, high) in ranges.items():
        numbers = adult.records.numbers(column)
        assert (numbers.min(), numbers.max()) == (low, high)
    assert all(adult.records.numbers(c).size == 45_222 for c in NUMERIC)


@pytest.mark.parametrize("source", [TRAIN, TEST], ids=lambda s: s.name)
def test_the_embedded_copy_is_the_pinned_original(source):
    assert hashlib.sha256(source.read(None, download=False)).hexdigest() == source.sha256
    attribution = (resources.files("bench.datasets") / "data" / "ATTRIBUTION.md").read_text()
    assert source.sha256 in attribution
    assert "CC BY 4.0" in attribution


def test_an_embedded_copy_that_differs_is_corrupt():
    wrong = SourceFile(name="adult.data", sha256="0" * 64, url="https://nowhere.invalid")
    text = refused(lambda: wrong.read(None, download=False))
    assert text.startswith("the embedded copy of adult.data is corrupt: sha256 5b00264637db")


def test_the_digest_identifies_both_files(adult, tmp_path):
    assert adult.digest == Adult().digest
    other = Adult(path=str(written(tmp_path)))
    assert other.digest != adult.digest
    assert digest_of(b"ab", b"c") != digest_of(b"a", b"bc")
    assert digest_of(b"a", b"b") != digest_of(b"b", b"a")


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("named_by", ["path", "environment"])
def test_a_folder_of_ones_own_is_read_plain_or_packed(tmp_path, monkeypatch, suffix, named_by):
    folder = str(written(tmp_path, suffix=suffix))
    if named_by == "environment":
        monkeypatch.setenv(DATA_VARIABLE, folder)
    data = Adult(path=folder if named_by == "path" else None)
    assert data.records.numbers("age").tolist() == [39, 50, 39]
    assert data.records.text("income").to_pylist() == ["<=50K", ">50K", "<=50K"]


def test_the_given_folder_goes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(written(tmp_path / "other", train=RICH)))
    mine = written(tmp_path / "mine")
    assert Adult(path=str(mine)).records.numbers("age").tolist() == [39, 50, 39]


def test_an_environment_folder_with_other_data_leaves_the_embedded_copy(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert TRAIN.read(None, download=False) == Adult()._files[0]


def test_files_from_two_places_are_never_mixed(tmp_path, monkeypatch):
    (written(tmp_path) / "adult.test").unlink()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert "no file adult.test or adult.test.gz" in refused(lambda: Adult().records)


def test_a_missing_folder_or_file_is_named(tmp_path, monkeypatch):
    text = refused(lambda: Adult(path=str(tmp_path / "nowhere")).records)
    assert text == f"no file adult.data or adult.data.gz in the folder {tmp_path / 'nowhere'}."
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "nowhere"))
    assert refused(lambda: Adult().records) == f"BENCH_DATA={tmp_path / 'nowhere'} is not a folder."


def test_a_download_is_made_only_when_asked_for(monkeypatch):
    def fail(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", fail)
    text = refused(lambda: Adult(download=True).records)
    assert text.startswith("cannot download https://archive.ics.uci.edu/")
    assert "no route to host" in text
    assert len(Adult(download=False).digest) == 64


def cut(content):
    return content[:-20]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) * 8 + content[middle + 8 :]


@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b"", lambda _: b"not packed at all"])
def test_a_corrupt_file_is_one_clear_line(tmp_path, damage):
    folder = written(tmp_path, train=ROW * 500, suffix=".gz")
    path = folder / "adult.data.gz"
    path.write_bytes(damage(path.read_bytes()))
    text = refused(lambda: Adult(path=str(folder)).records)
    assert text.startswith((f"cannot read {path}: ", "adult.data is not in the format"))


def test_a_damaged_stream_is_an_error_of_zlib_that_is_caught(tmp_path):
    # The kind of damage that gzip reports by zlib.error rather than by OSError.
    path = written(tmp_path, train=ROW * 500, suffix=".gz") / "adult.data.gz"
    content = bytearray(path.read_bytes())
    content[12:20] = b"\xff" * 8
    path.write_bytes(content)
    with pytest.raises(zlib.error):
        gzip.decompress(bytes(content))
    assert refused(lambda: Adult(path=str(tmp_path)).records).startswith(f"cannot read {path}: ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty: no header, no rows"),
        (ROW.replace(b", United-States", b"") * 2, "data row 1 has 14 fields, the header has 15"),
        (ROW.replace(b"\n", b", extra\n") * 2, "data row 1 has 16 fields"),
        (b"".join(b"%d, " % i + ROW for i in range(3)), "data row 1 has 16 fields"),
        (ROW + b"39, State-gov\n", "nothing for column 'fnlwgt' in '39, State-gov'"),
        (ROW + ROW.replace(b"\n", b", extra\n"), "data row 2 has 16 fields"),
        (ROW + ROW.replace(b"39,", b","), "column 'age' has 1 missing values"),
        (
            ROW + ROW.replace(b"39,", b"old,"),
            "column 'age' must hold finite numbers within +-1e+150, got 'old'",
        ),
        (b", ".join(c.encode() for c in COLUMNS) + b"\n" + ROW, "has a header of its own"),
        (ROW.replace(b"<=50K", b"50"), "no income column"),
        (ROW.replace(b"State-gov", b"?"), "no complete row"),
        (ROW.replace(b"State-gov", b"\xff\xfe"), "is not UTF-8: byte 0xff in line 1, field 2"),
        (
            ROW.replace(b"United-States", b'"United-States') + ROW,
            "has no readable header: unexpected end of data",
        ),
        (b"<html>\n<p>404, not found</p>\n</html>\n", "data row 1 has 1 fields"),
    ],
)
def test_another_format_is_one_clear_line(content, reason):
    text = refused(lambda: parse(content, "adult.data"))
    assert text.startswith("adult.data is not in the format of UCI Adult: ")
    assert reason in text


@pytest.mark.parametrize("country", ["NA", "None", "N/A", "nan", "null", "Côte d'Ivoire", "a=b/c"])
def test_country_codes_that_look_missing_survive(country):
    row = ROW.replace(b"United-States", country.encode())
    assert parse(row, "adult.data").text("native-country").to_pylist() == [country]


def test_quoted_commas_blank_lines_and_windows_line_ends_are_read():
    row = ROW.replace(b"United-States", b'"Hong, Kong"')
    table = parse((row + b"\n" + ROW).replace(b"\n", b"\r\n"), "adult.data")
    assert table.text("native-country").to_pylist() == ["Hong, Kong", "United-States"]
    assert table.text("income").to_pylist() == ["<=50K", "<=50K"]


@pytest.mark.parametrize("column", [b"39,", b"State-gov", b"United-States", b"77516"])
def test_only_the_question_mark_makes_a_row_incomplete(column):
    end = b"," if column.endswith(b",") else b""
    assert len(parse(ROW + ROW.replace(column, b"?" + end), "adult.data")) == 1


def test_a_test_file_without_its_comment_keeps_its_first_row(tmp_path):
    test = (RICH + ROW).replace(b"\n", b".\n")
    with_comment = Adult(path=str(written(tmp_path / "a", test=COMMENT + test))).records
    without = Adult(path=str(written(tmp_path / "b", test=test))).records
    assert all(with_comment.text(c).equals(without.text(c)) for c in COLUMNS)
    assert len(without) == 4
