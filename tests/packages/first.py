"""Tunes a function with the installed package (scripts/check_packages.sh)."""
import ctypes
import pathlib

import attune

space = {'x': {'_type': 'uniform', '_value': [-5, 5]}}
with attune.Study(space, seed=1) as study:
    study.optimize(lambda c: (c['x'] - 2) ** 2, 30)
    assert abs(study.best_parameters['x'] - 2) < 0.5, study.best_parameters

library = ctypes.CDLL(str(pathlib.Path(attune.__file__).parent / '_lib/libattune_study.so'))
assert library.attune_study_abi() >= 1
print('tuned')
