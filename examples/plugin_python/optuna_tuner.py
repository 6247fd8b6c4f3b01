"""Optuna's TPE as a tuner of attune. Needs Optuna (Debian: python3-optuna) and attune's package."""
import base64
import pickle

import optuna

from attune import plugin


def suggest(trial, dimension):
    path, kind, low, high, log = dimension
    if kind == 'index':
        return trial.suggest_categorical(path, range(high + 1))
    if kind == 'integer':
        return trial.suggest_int(path, low, high)
    return trial.suggest_float(path, low, high, log=log)


class Optuna(plugin.Tuner):
    """Optuna's TPE, which keeps away from what runs already"""
    arguments = [{'name': 'n_startup_trials', 'type': 'integer', 'default': 10, 'low': 0,
                  'help': 'random trials before the model'}]

    def __init__(self, space, arguments, seed, context):
        super().__init__(space, arguments, seed, context)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=seed % 2**32, constant_liar=True,
                                             n_startup_trials=arguments['n_startup_trials'])
        self.study, self.trials = optuna.create_study(sampler=sampler), {}

    def ask(self, trial):
        self.trials[trial] = asked = self.study.ask()
        return self.space.parameters(lambda dimension: suggest(asked, dimension))

    def adopt(self, trial, parameters):
        self.study.enqueue_trial(self.space.numbers(parameters))
        self.ask(trial)

    def tell(self, outcome):
        if outcome.id not in self.trials:  # imported
            self.adopt(outcome.id, outcome.parameters)
        failed = optuna.trial.TrialState.FAIL if outcome.loss is None else None
        self.study.tell(self.trials.pop(outcome.id), outcome.loss, failed)

    def withdraw(self, trial):
        self.study.tell(self.trials.pop(trial), state=optuna.trial.TrialState.FAIL)

    def skip_ahead(self):
        self.study.sampler.reseed_rng()

    def save(self):
        return base64.b64encode(pickle.dumps((self.study, self.trials))).decode()

    def load(self, state):
        self.study, self.trials = pickle.loads(base64.b64decode(state))


plugin.serve(Optuna)
