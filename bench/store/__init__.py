"""Recording to MLflow and reading back.

Open `run_schema` first: which tags, parameters and metrics a run has. `tracking` is the store (the
only module that imports MLflow), `tag_codec` writes plain data into tags exactly, `read_sweep`
finds recorded cells and returns a sweep as a tidy table: ``table_of(store, latest_sweep(store,
"quickstart"))``. `address` takes passwords out of what is shown and stored.
"""
