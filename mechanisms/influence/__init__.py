"""Influence curves a(b): how far distant entries betray a protected one."""
