"""Privacy notions as values: budgets, guarantees and exact leakage."""
