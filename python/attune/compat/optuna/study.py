"""As Optuna's module of this name."""
from .callbacks import MaxTrialsCallback
from .making import create_study, delete_study, load_study
from .states import StudyDirection
from .studies import Study

__all__ = ['MaxTrialsCallback', 'Study', 'StudyDirection', 'create_study', 'delete_study',
           'load_study']
