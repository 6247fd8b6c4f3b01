"""NNI's search spaces for Optuna."""


def suggest(trial, space, prefix=''):
    """Parameters of an Optuna trial for a space in NNI's form."""
    values = {}
    for name, declared in space.items():
        kind, value, path = declared['_type'], declared['_value'], prefix + name
        if kind == 'choice' and isinstance(value[0], dict):
            chosen = trial.suggest_categorical(path, [option['_name'] for option in value])
            option = next(option for option in value if option['_name'] == chosen)
            inside = {key: inner for key, inner in option.items() if key != '_name'}
            values[name] = {'_name': chosen, **suggest(trial, inside, f'{path}.{chosen}.')}
        elif kind == 'choice':
            values[name] = trial.suggest_categorical(path, value)
        elif kind == 'randint':
            values[name] = trial.suggest_int(path, value[0], value[1] - 1)
        elif kind == 'qloguniform' and value[2] == 1:
            values[name] = float(trial.suggest_int(path, value[0], value[1], log=True))
        elif kind == 'qloguniform':  # Optuna has no logarithmic steps: rounded as NNI says
            low, high, step = value
            drawn = trial.suggest_float(path, low, high, log=True)
            values[name] = min(max(round(drawn / step) * step, low), high)
        elif kind == 'quniform':
            values[name] = trial.suggest_float(path, value[0], value[1], step=value[2])
        elif kind in ('uniform', 'loguniform'):
            values[name] = trial.suggest_float(path, *value, log=kind == 'loguniform')
        else:
            raise ValueError(f'{path}: Optuna has no counterpart of {kind}')
    return values
