"""Callbacks for training loops of others: they report each round to attune, and end the trial when
attune says so (docs/frameworks.md).

    XGBoost, LightGBM, Keras, Lightning

A framework is imported when its callback is named.
"""
from __future__ import annotations

import importlib
from typing import Any

_MODULES = {'XGBoost': 'xgboost', 'LightGBM': 'lightgbm', 'Keras': 'keras', 'Lightning': 'lightning'}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f'{__name__}.{_MODULES[name]}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
