"""A custom tuner of NNI that is attuned (docs/nni.md). NNI's dispatcher makes it before anything
else, and is replaced by attuned then: same process, same descriptors, same environment.

    tuner:
      codeDirectory: /usr/local/share/attune/nni
      className: attuned_tuner.Attuned
      classArgs: {tuner: {name: TPE, classArgs: {optimize_mode: maximize}}}
"""
import base64
import json
import os
import sys

INSTALLED = os.path.join(os.path.dirname(os.path.realpath(__file__)), '../../../bin/attuned')


class Attuned:
    """`members` take the place of those in NNI's experiment parameters, for example tuner,
    assessor, objectives, constraints (docs/protocol.md, "Starting"). Without `tuner` it is `auto`.
    `command` is attuned: a path, or a name on PATH.
    """

    def __init__(self, command=None, **members):
        at = sys.argv.index('--exp_params') + 1
        parameters = json.loads(base64.b64decode(sys.argv[at]))
        for own in ('tuner', 'advisor'):  # one of them is this class
            parameters.pop(own, None)
        parameters.update(members)
        encoded = base64.b64encode(json.dumps(parameters).encode()).decode()
        command = command or (INSTALLED if os.access(INSTALLED, os.X_OK) else 'attuned')
        os.execvp(command, [command, '--exp_params', encoded])
