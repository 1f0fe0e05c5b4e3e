import gzip
import re

import numpy as np
import pandas as pd
import pytest

from bench.datasets.activities.capture24 import Capture24
from bench.datasets.activities.synthetic_activities import ACTIVITIES, BANDS
from bench.datasets.source import DataError

DICTIONARY = (
    "annotation,label:Walmsley2020,label:WillettsMET2018\n"
    "7030 sleeping;MET 0.95,sleep,sleep\nsitting at desk;MET 1.5,sedentary,sitting\n"
    "walking;MET 3.5,light,walking\n"
)
SLEEP, SIT, WALK = "7030 sleeping;MET 0.95", "sitting at desk;MET 1.5", "walking;MET 3.5"


def participant(folder, pid, bouts, rate=2):
    """Samples at `rate` Hz: bouts of (annotation, seconds)."""
    annotation = [a for a, seconds in bouts for _ in range(rate * seconds)]
    time = np.datetime64("2014-05-01T10:00:00.000") + np.arange(len(annotation)) * (1000 // rate)
    rows = pd.DataFrame({"time": time.astype(str), "x": 0.1, "y": 0.2, "z": 0.9,
                         "annotation": annotation})  # fmt: skip
    rows["time"] = rows["time"].str.replace("T", " ")
    text = rows.to_csv(index=False)
    (folder / f"{pid}.csv.gz").write_bytes(gzip.compress(text.encode()))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "annotation-label-dictionary.csv").write_text(DICTIONARY)
    (tmp_path / "metadata.csv").write_text(
        "pid,age,sex\nP001,18-29,F\nP002,18-29,M\nP003,53+,F\nP004,53+,F\n"
    )
    for pid in ("P001", "P002", "P003", "P004"):
        participant(tmp_path, pid, [(SLEEP, 40), (WALK, 35), ("", 35), (SIT, 40)])
    return tmp_path


def read(folder, **settings):
    return Capture24(folder=str(folder), **({"held_out": 1} | settings)).sequence_statistics


def test_windows_take_the_majority_and_gaps_cut_sequences(folder):
    found = read(folder)
    assert found.states == ("sitting", "sleep", "walking")
    assert found.groups == ("18-29", "53+")
    # Windows of 30 s: sleep | walking 20 s of 30 | walking 15, none 15: tie, label first |
    # none 20 of 30 | sitting.
    assert found.query.tolist() == [[1, 1, 2], [1, 1, 2]]
    assert found.training.tolist() == [[1, 1, 2], [1, 1, 2]]
    sleep, walk = 1, 2
    assert found.transitions[sleep, walk] == 2
    assert found.transitions[walk, walk] == 2
    assert found.transitions.sum() == 4
    # The entries on both sides of the gap depend on each other: 3 + 1, and the hidden window.
    assert found.lengths.tolist() == [5, 5]
    assert "4 unannotated or missing windows inside recordings" in found.notes


def test_stamps_of_microseconds_are_read(folder):
    before = read(folder)
    for path in folder.glob("P*.gz"):
        text = gzip.decompress(path.read_bytes()).decode()
        path.write_bytes(gzip.compress(re.sub(r"(\.\d{3}),", r"\g<1>000,", text).encode()))
    assert "10:00:00.000000" in gzip.decompress(path.read_bytes()).decode()
    assert read(folder).digest == before.digest


def test_files_that_change_are_read_again_and_doubles_refused(folder):
    before = read(folder)
    participant(folder, "P001", [(WALK, 200)])
    participant(folder, "P002", [(WALK, 200)])
    assert read(folder).digest != before.digest
    (folder / "P001.csv").write_text("time,annotation\n")
    with pytest.raises(DataError, match="several files of one participant"):
        read(folder)
    (folder / "P001.csv").unlink()
    (folder / "metadata.csv").write_text("pid,age\nP001,53+\nP001,18-29\n")
    with pytest.raises(DataError, match=r"metadata.csv lists 'P001' twice"):
        read(folder)


def test_changes_of_activity_and_other_windows(folder):
    changes = read(folder, steps="changes")
    assert changes.query.tolist() == [[1, 1, 1], [1, 1, 1]]
    fine = read(folder, window=5.0)
    assert fine.query.sum(axis=1).tolist() == [8 + 7 + 8] * 2
    assert read(folder, labelling="label:Walmsley2020").states == ("light", "sedentary", "sleep")


def test_unknown_annotations_are_counted(folder):
    participant(folder, "P001", [(SLEEP, 60), ("flying;MET 9", 60), (WALK, 60)])
    told = "; ".join(read(folder).notes)
    assert "120 samples with annotations outside the dictionary: unannotated" in told
    assert "4 participants, 2 of them queried" in told


def test_what_does_not_fit_is_refused(folder):
    with pytest.raises(DataError, match="held_out=2 leaves nobody of the 2 aged 18-29 to train"):
        read(folder, held_out=2)
    with pytest.raises(
        DataError, match="unknown column 'label:X'; there are: annotation, label:Wal"
    ):
        read(folder, labelling="label:X")
    (folder / "P005.csv").write_text("time,annotation\n2014-05-01 10:00:00.000,\n")
    with pytest.raises(DataError, match=r"metadata.csv does not list P005"):
        read(folder)
    (folder / "P005.csv").unlink()
    (folder / "P001.csv.gz").write_bytes(gzip.compress(b"time,x\nnoon,1\n"))
    with pytest.raises(DataError, match="unknown column 'annotation'; there are: time, x") as error:
        read(folder)
    assert "\n" not in str(error.value)
    (folder / "metadata.csv").unlink()
    with pytest.raises(DataError, match=r"no file .*metadata.csv"):
        read(folder, seed=1)
    with pytest.raises(ValueError, match="window must be in"):
        Capture24(window=0.0)


def test_without_files_the_population_is_synthetic_and_says_so(nowhere):
    stand_in = Capture24(steps="all")
    assert stand_in.synthetic
    statistics = stand_in.sequence_statistics
    assert statistics.notes[0].startswith("SYNTHETIC")
    assert statistics.states == ACTIVITIES
    assert statistics.groups == tuple(BANDS)
    assert statistics.query.sum(axis=1).tolist() == [8 * 2880] * 4
    assert statistics.training.sum(axis=1).tolist() == [(n - 8) * 2880 for n in (43, 37, 37, 34)]


def test_the_stand_in_tells_what_it_does_not_heed(nowhere):
    default = Capture24().sequence_statistics
    other = Capture24(window=300, seed=7, labelling="x").sequence_statistics
    assert not any("no effect" in note for note in default.notes)
    assert other.digest == default.digest
    assert other.notes[len(default.notes) :] == (
        "window=300 has no effect on the SYNTHETIC population",
        "labelling='x' has no effect on the SYNTHETIC population",
        "seed=7 has no effect on the SYNTHETIC population",
    )
    with pytest.raises(DataError, match="held_out=34 leaves nobody of the 34 aged 53"):
        Capture24(held_out=34).sequence_statistics  # noqa: B018
    with pytest.raises(ValueError, match="labelling must name a column, got labelling=7"):
        Capture24(labelling=7)


def test_the_seed_chooses_the_queried_participants(folder):
    participant(folder, "P001", [(SLEEP, 300)])
    assert len({read(folder, seed=seed).digest for seed in range(9)}) > 1
