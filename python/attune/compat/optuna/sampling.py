"""What a study asks a sampler."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from ...study import Study
from .frozen import FrozenTrial

NOTHING = object()  # what choose() returns for values that the tuner chooses

# Gets a trial that has ended; returns numbers that should be at most 0.
Constraints = Optional[Callable[[FrozenTrial], Sequence[float]]]


_OF_OPTUNA = ('after_trial', 'before_trial', 'infer_relative_search_space', 'reseed_rng',
              'sample_independent', 'sample_relative')


class BaseSampler:
    """A tuner of attune, and its arguments. StudyError: it does not exist, or not with these."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if any(name in vars(cls) for name in _OF_OPTUNA):
            raise TypeError(f'{cls.__name__}: samplers of your own would not be asked here; use '
                            'them with the real Optuna')

    def __init__(self, tuner: str, arguments: Optional[Dict[str, Any]], seed: Optional[int],
                 constraints_func: Constraints = None) -> None:
        self.tuner = tuner
        self.arguments = arguments or {}
        self.seed = seed
        self.constraints_func = constraints_func
        arguments, seed = self.engine_arguments()
        Study(seed=seed, **arguments).close()  # says what is wrong

    def is_like(self, other: 'BaseSampler') -> bool:
        """Whether both have the same tuner, with the same arguments."""
        return (self.engine_arguments() == other.engine_arguments()
                and self.constraints_func == other.constraints_func)

    def begin(self, _trials: Sequence[FrozenTrial]) -> Dict[str, Any]:
        """System attributes of the trial that begins."""
        return {}

    def choose(self, _trials: Sequence[FrozenTrial], _trial: FrozenTrial, _name: str,
               _distribution: Any) -> Any:
        """The value of a parameter, if it is this sampler that chooses it."""
        return NOTHING

    def is_exhausted(self, _trials: Sequence[FrozenTrial]) -> bool:
        """Whether all that there is was tried; then optimize() ends."""
        return False

    def engine_arguments(self) -> Tuple[Dict[str, Any], Optional[int]]:
        """Arguments of attune.Study, and the seed."""
        return {'tuner': self.tuner, 'tuner_args': self.arguments}, self.seed
