"""The configuration tree: the public interface of the benchmark."""
