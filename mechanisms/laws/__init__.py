"""Laws of answers, and what couples two of them: the lowest floor.

Open `answer` first (what a law of an answer is), then `finite` and `coupling`. `transport` and
`closeness` compare two laws; `sequence` and `visit_counts` are laws of a Markov chain and of its
counts; `collinear` and `quadratic_form` reduce several coordinates to one.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "FiniteLaw": "finite",
        "GaussianLaw": "answer",
        "SequenceLaw": "sequence",
        "Coupling": "coupling",
        "comonotone": "coupling",
        "wasserstein": "coupling",
        "w_delta_closeness": "closeness",
    },
)
