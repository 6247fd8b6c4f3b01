"""The sweeper."""
from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Transformer
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

_logger = logging.getLogger(__name__)


class AttuneSweeper(Sweeper):
    """Runs the application with configurations that a tuner of attune proposes. Arguments: see
    AttuneSweeperConf. The application returns a number, or a dict with `default`."""

    def __init__(self, direction: str, n_trials: int, n_jobs: int, tuner: str, tuner_args: Any,
                 seed: Optional[int], file: Optional[str], if_exists: str, max_failure_rate: float,
                 params: Any):
        self.config: Optional[DictConfig] = None
        self.launcher: Optional[Launcher] = None
        self.hydra_context: Optional[HydraContext] = None
        if direction not in ('minimize', 'maximize'):
            raise ValueError(f"direction: must be 'minimize' or 'maximize', got {direction!r}")
        self._named = {'tuner': tuner, 'tuner_args': _plain(tuner_args), 'seed': seed, 'file': file,
                       'if_exists': if_exists, 'concurrency': n_jobs,
                       'maximize': direction == 'maximize'}
        self._n_trials = n_trials
        self._n_jobs = n_jobs
        self._max_failure_rate = max_failure_rate
        self._params = _plain(params)

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction,
              config: DictConfig) -> None:
        """Called by Hydra before sweep()."""
        self.config = config
        self.hydra_context = hydra_context
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config)

    def sweep(self, arguments: List[str]) -> None:
        """Until `n_trials` are there; those of a file that goes on count. `arguments`, of the command
        line, come after `params`. Writes optimization_results.yaml into the folder of the sweep."""
        # Here: Hydra imports this module at each start of each application.
        from attune import Study
        from attune.batches import next_batch

        from ._space import as_overrides, split
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        given = [f'{key}={value if isinstance(value, str) else Transformer.str(value)}'
                 for key, value in self._params.items()]
        space, fixed = split(parser.parse_overrides([*given, *arguments]))
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = 0
        with Study(space, **self._named) as study:
            while True:
                trials = next_batch(study, self._n_jobs, self._n_trials)
                if not trials:
                    break
                batch = [[*as_overrides(trial.parameters, space), *fixed] for trial in trials]
                returns = self.launcher.launch(batch, initial_job_idx=jobs)
                jobs += len(returns)
                self._tell(study, trials, returns)
            best = study.best
            if best is None:
                _logger.warning('no trial has completed with a finite number')
                return
            found = {'name': 'attune', 'best_value': study.best_value,
                     'best_overrides': [*as_overrides(best.parameters, space), *fixed]}
            OmegaConf.save(OmegaConf.create(found), str(folder / 'optimization_results.yaml'))
            _logger.info('best value: %s, of %s', *list(found.values())[1:])

    def _tell(self, study: Any, trials: List[Any], returns: Sequence[JobReturn]) -> None:
        """What a job raised is raised again if too many jobs have failed."""
        failures = []
        for trial, job in zip(trials, returns):
            try:
                study.tell(trial, job.return_value)
            except Exception as error:
                study.fail(trial)
                failures.append(error)
                _logger.warning('trial %s has failed: %s', trial.number, error)
        if len(failures) > self._max_failure_rate * len(trials):
            raise failures[0]


def _plain(config: Any) -> Dict[str, Any]:
    return OmegaConf.to_container(config, resolve=True) if OmegaConf.is_config(config) else dict(config)
