"""Modules with the names and functions of other tools, on attune's engine."""
