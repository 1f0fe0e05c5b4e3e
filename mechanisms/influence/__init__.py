"""Influence curves a(b): how much distant entries reveal about a protected one."""
