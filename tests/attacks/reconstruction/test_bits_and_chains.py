"""Reconstruction of bits and chains as attacks of the cross: nulls, powers, what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from attacks.base import Target, Transcript, UnsupportedMechanismError
from attacks.reconstruction.bits_and_chains import ChainEntries, SubsetBits
from attacks.reconstruction.chain_counts import ChainCountPosterior
from mechanisms.collapse.parity import ParityRelease
from mechanisms.laws.sequence import SequenceLaw
from tests.attacks.reconstruction.noises import gaussian, laplace

RNG = np.random.default_rng
N, Q = 16, 64
QUERIES = RNG(7).integers(0, 2, (Q, N)).astype(np.int8)
TRANSITION = np.array([[0.9, 0.1], [0.2, 0.8]])
INITIAL = np.array([2 / 3, 1 / 3])


def played(rows, answers, mechanism, k, rng, **public):
    seen = np.stack([mechanism.release(answers, rng) for _ in range(k)], axis=1)
    return Transcript(
        secret=rows[:, 0] % 2, answers=answers, database=rows, releases=seen, public=public
    )


def bits(n, mechanism, k, rng, share=0.5):
    rows = (rng.random((n, N)) < share).astype(np.int64)
    queries = np.broadcast_to(QUERIES, (n, Q, N))
    return played(rows, rows @ QUERIES.T.astype(float), mechanism, k, rng, queries=queries)


def right_bits(deviation, k=1, share=0.5):
    rng, mechanism = RNG(8), gaussian(deviation, Q)
    shadow, test = (bits(40, mechanism, k, rng, share) for _ in range(2))
    known = Target(mechanism=mechanism, n_secrets=2, laws=None)
    guess = SubsetBits().fit(shadow, known, rng).guess(test.releases, test.public["queries"])
    assert guess.of == "database"
    return (guess.values == test.database).mean()


def test_bits_are_found_in_little_noise_and_with_more_releases_and_not_in_much():
    assert right_bits(0.5) > 0.99
    assert right_bits(8.0) < right_bits(8.0, k=50) > 0.9
    assert abs(right_bits(1e5) - 0.5) < 5 * 0.5 / np.sqrt(40 * N)


def test_in_much_noise_the_share_alone_decides():
    assert right_bits(1e5, share=0.9) > 0.85


def test_subsets_that_change_from_world_to_world_are_refused():
    rng, mechanism = RNG(9), gaussian(1.0, Q)
    shadow = bits(10, mechanism, 1, rng)
    fitted = SubsetBits().fit(shadow, Target(mechanism=mechanism, n_secrets=2, laws=None), rng)
    other = shadow.public["queries"].copy()
    other[3, 0, 0] ^= 1
    with pytest.raises(UnsupportedMechanismError, match="the same subsets in every world"):
        fitted.guess(shadow.releases, other)


def chain_law(position=3, value=0, lengths=(6, 4)):
    return SequenceLaw(
        transition=TRANSITION, initial=INITIAL, lengths=lengths, position=position, value=value
    )


def chains(n, mechanism, k, rng):
    law = chain_law()
    rows = np.concatenate([replace(law, value=v).sample(n // 2, rng) for v in (0, 1)])
    return played(rows, (rows == 1).sum(axis=1, keepdims=True).astype(float), mechanism, k, rng)


def test_entries_are_those_of_the_exact_posterior():
    rng, mechanism = RNG(10), laplace(2.0)
    test = chains(60, mechanism, 5, rng)
    known = Target(
        mechanism=mechanism, n_secrets=2, laws=None, database_laws=(chain_law(), chain_law(value=1))
    )
    guess = ChainEntries().fit(test, known, rng).guess(test.releases)
    posterior = ChainCountPosterior(
        transition=TRANSITION, initial=INITIAL, length=6, state=1, other_lengths=(4,)
    ).entries(mechanism, test.releases)
    assert (guess.values == posterior.argmax(axis=-1)).all()
    assert guess.entries.tolist() == list(range(6))


def test_more_releases_tell_more_entries_and_noise_alone_the_prior():
    rng = RNG(11)
    right = {}
    for scale, k in ((4.0, 1), (4.0, 400), (1e6, 1)):
        mechanism = laplace(scale)
        test = chains(600, mechanism, k, rng)
        known = Target(mechanism=mechanism, n_secrets=2, laws=None, database_laws=(chain_law(),))
        guess = ChainEntries().fit(test, known, rng).guess(test.releases)
        right[scale, k] = (guess.values == test.database[:, :6]).mean()
        if scale == 1e6:
            assert (guess.values == 0).all()
    assert right[4.0, 400] > right[4.0, 1] + 0.03
    assert right[4.0, 1] > right[1e6, 1] + 0.01


@pytest.mark.parametrize(
    ("attack", "mechanism", "laws", "public", "reason"),
    [
        (SubsetBits(), laplace(1.0), (), {}, "it needs the public fact 'queries'"),
        (SubsetBits(), ParityRelease(n_bits=6), (), {}, "it needs counts released"),
        (ChainEntries(), laplace(1.0), (), {}, "it needs sequences of a chain"),
        (ChainEntries(), ParityRelease(n_bits=6), (chain_law(lengths=(6,)),), {}, "a noisy count"),
        (ChainEntries(), laplace(1.0), (chain_law(lengths=(6,)),), {}, "must count the visits"),
    ],
)
def test_what_an_attack_cannot_run_against_is_told(attack, mechanism, laws, public, reason):
    rows = np.tile([0, 1, 1, 0, 0, 1], (3, 1))
    shadow = Transcript(secret=rows[:, 0], answers=rows[:, :1] + 0.5, database=rows, public=public)
    known = Target(mechanism=mechanism, n_secrets=2, laws=None, database_laws=laws or None)
    with pytest.raises(UnsupportedMechanismError, match=reason):
        attack.fit(shadow, known, RNG(0))
