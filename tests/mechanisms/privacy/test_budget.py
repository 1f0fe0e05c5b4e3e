import math

import pytest

from mechanisms.privacy.budget import Epsilon, EpsilonDelta, RenyiEpsilon

BUILDERS = {
    "Epsilon": lambda e: Epsilon(epsilon=e),
    "EpsilonDelta": lambda e: EpsilonDelta(epsilon=e, delta=1e-3),
    "RenyiEpsilon": lambda e: RenyiEpsilon(order=2.0, epsilon=e),
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
@pytest.mark.parametrize("bad", [0, 0.0, -1, math.nan, "abc", True, None])
def test_a_bad_epsilon_is_refused_in_one_line_that_names_it(build, bad):
    error = TypeError if bad is True or isinstance(bad, str | None) else ValueError
    with pytest.raises(error, match=r"^epsilon must be .*, got epsilon=.*\.$") as caught:
        build(bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_an_infinite_epsilon_is_a_budget(build):
    assert build(math.inf).epsilon == math.inf


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, math.nan, "abc", True])
def test_a_bad_delta_is_refused_in_one_line_that_names_it(bad):
    error = TypeError if bad is True or isinstance(bad, str) else ValueError
    with pytest.raises(error, match=r"^delta must be .*, got delta=.*\.$"):
        EpsilonDelta(epsilon=1.0, delta=bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, "2", False])
def test_a_bad_order_is_refused_in_one_line_that_names_it(bad):
    with pytest.raises((ValueError, TypeError), match=r"^order must be .*, got order=.*\.$"):
        RenyiEpsilon(order=bad, epsilon=1.0)
