"""As Optuna's module of this name."""
from .fixed import FixedTrial
from .frozen import FrozenTrial, create_trial
from .live import Trial
from .states import TrialState

BaseTrial = (Trial, FrozenTrial)  # for isinstance()

__all__ = ['BaseTrial', 'FixedTrial', 'FrozenTrial', 'Trial', 'TrialState', 'create_trial']
