"""Algorithms as users wrote them for NNI: a tuner, an advisor and an assessor."""
import json
import random

import nni
from nni.assessor import Assessor, AssessResult
from nni.runtime.msg_dispatcher_base import MsgDispatcherBase
from nni.runtime.protocol import CommandType, send
from nni.tuner import Tuner
from nni.utils import OptimizeMode, extract_scalar_reward


def draw(space, rng):
    """A choice or a uniform number for each parameter."""
    return {name: rng.choice(spec['_value']) if spec['_type'] == 'choice'
            else rng.uniform(*spec['_value']) for name, spec in space.items()}


class NearBest(Tuner):
    """Draws anew, and every second time keeps the best value of one parameter. Says what it is
    told in a file, and adds a parameter that is not of the space."""

    def __init__(self, optimize_mode='maximize', seed=0, limit=1000, log=None):
        self.mode = OptimizeMode(optimize_mode)
        self.rng = random.Random(seed)
        self.left = limit
        self.log = log
        self.best = None
        self.space = {}

    def say(self, *what):
        print(*what)  # must not disturb anybody
        if self.log:
            with open(self.log, 'a') as file:
                file.write(json.dumps(what) + '\n')

    def update_search_space(self, search_space):
        self.say('space', sorted(search_space))
        self.space = search_space
        self.best = None

    def generate_parameters(self, parameter_id, **kwargs):
        if self.left == 0:
            raise nni.NoMoreTrialError('limit')
        self.left -= 1
        made = draw(self.space, self.rng)
        if self.best and parameter_id % 2:
            name = self.rng.choice(sorted(self.space))
            made[name] = self.best[1][name]
        made['member'] = {'id': parameter_id}
        return made

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        reward = extract_scalar_reward(value)
        self.say('result', parameter_id, parameters, value, kwargs)
        if self.mode is OptimizeMode.Minimize:
            reward = -reward
        if not self.best or reward > self.best[0]:
            self.best = reward, parameters

    def trial_end(self, parameter_id, success, **kwargs):
        self.say('end', parameter_id, success)

    def import_data(self, data):
        self.say('import', data)

    def _on_exit(self):
        self.say('exit')


class Later(Tuner):
    """At most two trials at a time; others later, by the callback. As NNI's PBT does."""

    def __init__(self):
        self.running = 0
        self.credit = []

    def update_search_space(self, search_space):
        pass

    def generate_parameters(self, parameter_id, **kwargs):
        if self.running == 2:
            self.credit.append((parameter_id, kwargs['st_callback']))
            raise nni.NoMoreTrialError('wait')
        self.running += 1
        return {'x': 0.5, 'id': parameter_id}

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        pass

    def trial_end(self, parameter_id, success, **kwargs):
        self.running -= 1
        if self.credit:
            trial, callback = self.credit.pop(0)
            self.running += 1
            callback(trial, {'x': 0.25, 'id': trial})


class RandomAdvisor(MsgDispatcherBase):
    """Draws at random, gives budgets, and kills what reports less than zero."""

    def __init__(self, seed=0, limit=1000, log=None):
        super().__init__()
        self.rng = random.Random(seed)
        self.count = 0
        self.limit = limit
        self.log = log
        self.space = {}

    def say(self, *what):
        if self.log:
            with open(self.log, 'a') as file:
                file.write(json.dumps(what) + '\n')

    def handle_initialize(self, data):
        self.handle_update_search_space(data)
        send(CommandType.Initialized, '')

    def handle_update_search_space(self, data):
        self.space = data

    def handle_request_trial_jobs(self, data):
        for _ in range(data):
            if self.count == self.limit:
                send(CommandType.NoMoreTrialJobs, json.dumps(
                    {'parameter_id': '-1_0_0', 'parameter_source': 'algorithm', 'parameters': ''}))
                return
            send(CommandType.NewTrialJob, json.dumps({
                'parameter_id': f'0_{self.count}', 'parameter_source': 'algorithm',
                'parameters': {**draw(self.space, self.rng), 'TRIAL_BUDGET': self.count + 1}}))
            self.count += 1

    def handle_report_metric_data(self, data):
        value = extract_scalar_reward(json.loads(data['value']))
        self.say('metric', data)
        if data['type'] == 'PERIODICAL' and value < 0:
            send(CommandType.KillTrialJob, json.dumps(data['trial_job_id']))

    def handle_trial_end(self, data):
        self.say('end', data['event'], json.loads(data['hyper_params'])['parameter_id'])

    def handle_import_data(self, data):
        self.say('import', data)

    def handle_add_customized_trial(self, data):
        pass


class AboveZero(Assessor):
    """Stops trials whose last report is below zero."""

    def __init__(self, log=None):
        self.log = log

    def assess_trial(self, trial_job_id, trial_history):
        value = extract_scalar_reward(trial_history[-1])
        return AssessResult.Good if value >= 0 else AssessResult.Bad

    def trial_end(self, trial_job_id, success):
        if self.log:
            with open(self.log, 'a') as file:
                file.write(json.dumps(['end', trial_job_id, success]) + '\n')
