"""Scenarios: a dataset, a query, secrets, and what curator and adversary are assumed to know.

Open `base` first: what the harness asks of a scenario. Then `numeric_column`, the smallest one, or
`property_subsets`, that of the main job (`numeric_table` is the same on a table of one's own,
`subset_records`, `statistics`, `subsets` and `subset_sizes` are its parts). Chains: `chain_model`
is what `chain_count` and `chain_histogram` share. `sequences` holds recorded label sequences, for
rankings.
For repeated releases: `listed_databases` (all databases, with their probabilities) and
`subset_counts` (one attribute, counted over many subsets).
Exact releases: `mean_release` (sums with their records), `cell_counts` (a table of counts),
`cell_property` (tables of subsets, with a secret), `query_pair` (two counts that differ in little).
`secrets` has the other secrets of a property scenario: a record, a group, an attribute.
"""

from mechanisms.lazy import lazy_names

__getattr__ = lazy_names(
    __name__,
    {
        "PropertySubsets": "property_subsets",
        "NumericColumn": "numeric_column",
        "ChainCount": "chain_count",
        "ChainHistogram": "chain_histogram",
        "Sequences": "sequences",
        "ListedDatabases": "listed_databases",
        "SubsetCounts": "subset_counts",
        "MeanRelease": "mean_release",
        "CellCounts": "cell_counts",
        "CellProperty": "cell_property",
        "QueryPairs": "query_pair",
    },
)
