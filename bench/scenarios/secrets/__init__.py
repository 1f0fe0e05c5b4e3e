"""Other secrets of the data, query and curator that a property scenario has.

Open `one_release` first: the scenario. `kinds` says which secrets there are, `side` what an
adversary knows under one value of a secret.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "OneRelease": "one_release",
        "Members": "kinds",
        "Attribute": "kinds",
        "Corners": "kinds",
        "RandomShare": "kinds",
    },
)
