"""Recording to MLflow and reading back."""
