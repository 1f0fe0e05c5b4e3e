"""What public fields tell: by hand, at nothing, and at everything."""

from __future__ import annotations

import numpy as np
import pytest

from attacks.outside.public_fields import guess_by_fields, guess_by_group
from bench.core.intervals import clopper_pearson
from bench.datasets.source import locate
from bench.datasets.table.table_file import TableFile
from tests.support.files import holds

NEW_YORK = "foursquare/nyc_checkins_193users_joined.csv.gz"


def test_groups_are_counted_by_hand():
    training = np.array([[3, 1], [0, 2], [0, 0]])
    query = np.array([[5, 2], [1, 4], [2, 7]])
    # Most frequent of all is label 0 (3 of 6 at a tie, the first); group 2 has no public entry.
    assert guess_by_group(training, query) == (8, 5 + 4 + 2, 21)


def test_null_fields_without_a_bearing_on_labels_beat_the_majority_in_at_most_31_of_400():
    """Fields are learnt on other entries than those that are guessed."""
    rng = np.random.default_rng(0)
    above = 0
    for _ in range(400):
        fields = rng.integers(0, 5, size=(400, 2))
        labels = (rng.random(400) < 0.5).astype(int)
        guesses = guess_by_fields(fields[:200], labels[:200], fields[200:])
        low, _ = clopper_pearson(int((guesses == labels[200:]).sum()), 200, 0.9)
        above += low > 0.5
    assert above <= 31


def test_power_fields_that_tell_the_label_are_read():
    rng = np.random.default_rng(1)
    fields = rng.integers(0, 7, size=(500, 2))
    labels = (fields[:, 0] * 7 + fields[:, 1]) % 5
    guesses = guess_by_fields(fields, labels, fields)
    assert (guesses == labels).all()
    unseen = guess_by_fields(fields, labels, np.array([[9, 9]]))
    assert unseen.tolist() == [np.bincount(labels).argmax()]


@pytest.mark.skipif(not holds(NEW_YORK), reason="the New York check-ins are not there")
def test_new_york_time_and_square_tell_of_the_root_category():
    """Majority .221, hour, square and weekend .300; user, square and hour .436."""
    table = TableFile(path=str(locate(NEW_YORK, None))).read(
        "user_id", "root_category", "lat", "lon", "local_time"
    )
    moment, _ = table.clock("local_time", unit=None, local=True)
    stamps = moment.astype("datetime64[ns]")
    hour = stamps.astype("datetime64[h]").astype(int) % 24
    weekend = (stamps.astype("datetime64[D]").astype(int) + 3) % 7 >= 5
    square = np.floor(np.stack([table.numbers("lat"), table.numbers("lon")], axis=1) / 0.1)
    labels, user = table.labels("root_category").codes, table.labels("user_id").codes
    order = np.argsort(moment, kind="stable")
    train, test = np.split(order, [round(0.8 * order.size)])

    def right(*fields):
        columns = np.stack(fields, axis=1).astype(np.int64)
        guesses = guess_by_fields(columns[train], labels[train], columns[test])
        return float((guesses == labels[test]).mean())

    flat = np.zeros_like(hour)
    assert right(flat) == pytest.approx(0.221, abs=0.03)
    assert right(hour, *square.T, weekend) == pytest.approx(0.300, abs=0.03)
    assert right(user, *square.T, hour) == pytest.approx(0.436, abs=0.03)
