"""What stands in the configuration below hydra.sweeper, and its defaults."""
# No annotations from __future__: Hydra runs this file before it is in sys.modules, where dataclass
# would look for it.
from dataclasses import dataclass, field
from typing import Any, Dict, Optional

from hydra.core.config_store import ConfigStore


@dataclass
class AttuneSweeperConf:
    """`params` is the search space in Hydra's grammar of overrides; the other names are those of
    attune.Study."""

    _target_: str = 'hydra_plugins.hydra_attune_sweeper.attune_sweeper.AttuneSweeper'
    direction: str = 'minimize'  # or 'maximize'
    n_trials: int = 20
    n_jobs: int = 1  # so many at a time are given to the launcher
    tuner: str = 'auto'
    tuner_args: Dict[str, Any] = field(default_factory=dict)
    seed: Optional[int] = None
    file: Optional[str] = None
    if_exists: str = 'fail'
    max_failure_rate: float = 0.0  # of the jobs that are launched at a time
    params: Dict[str, Any] = field(default_factory=dict)


ConfigStore.instance().store(group='hydra/sweeper', name='attune', node=AttuneSweeperConf,
                             provider='attune_sweeper')
