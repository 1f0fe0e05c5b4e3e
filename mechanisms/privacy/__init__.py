"""Privacy notions as values: budgets, guarantees, exact leakage, accounting."""
