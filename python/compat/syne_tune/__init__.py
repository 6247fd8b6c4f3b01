"""The trial's side of Syne Tune, for machines without it: written from its wire format.

Put on PYTHONPATH together with the package attune, and only where `import syne_tune` fails
otherwise.
"""
from .report import Reporter

__all__ = ['Reporter']
