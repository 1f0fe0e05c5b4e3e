"""Scenarios: a dataset, a query, secrets, and what curator and adversary assume."""
