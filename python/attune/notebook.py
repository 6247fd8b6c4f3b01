"""How a study shows itself in a notebook: HTML with a picture, without other packages."""
from __future__ import annotations

import collections
import html
import math
from typing import TYPE_CHECKING, List, Tuple

if TYPE_CHECKING:
    from .study_results import StudyResults

_WIDTH, _HEIGHT, _EDGE = 360, 120, 4  # pixels
_MOST_POINTS = 2000  # of the picture: the newest trials beyond that many are thinned out


def page(study: 'StudyResults') -> str:
    """The best trial, how many there are of each status, and the results over the trials."""
    trials = study.trials
    counts = collections.Counter(trial.status for trial in trials)
    found = ['<div><b>', html.escape(f'Study: {len(trials)} trials'), '</b> ',
             html.escape(', '.join(f'{count} {status}' for status, count in counts.items()))]
    best = study.best
    if best is not None:
        found += ['<table><tr><th>best</th><td>',
                  html.escape(f'{study.value(best):.6g} (trial {best.number})'), '</td></tr>']
        found += [f'<tr><th>{html.escape(str(name))}</th><td>{html.escape(_short(value))}</td></tr>'
                  for name, value in best.parameters.items()]
        found.append('</table>')
    return ''.join(found) + _picture(study) + '</div>'


def _short(value: object) -> str:
    return f'{value:.6g}' if isinstance(value, float) else f'{value}'[:80]


def _picture(study: 'StudyResults') -> str:
    """Points: results of trials. The line: the best so far. Empty: there are not two of them."""
    results = [(trial.number, study.value(trial)) for trial in study.trials]
    results = [(number, value) for number, value in results if math.isfinite(value)]
    if len(results) < 2:
        return ''
    sign = -1 if study.maximizes else 1
    line: List[Tuple[int, float]] = []
    for number, value in results:
        if not line or sign * value < sign * line[-1][1]:
            line.append((number, value))
    last = max(results[-1][0], 1)
    # Half of the height is for the better half: a few bad results would flatten all others.
    ranked = sorted(value for _, value in results)
    low, high = ranked[0], ranked[-1]
    if sign == 1:
        high = min(high, ranked[len(ranked) // 2] + 2 * (ranked[len(ranked) // 2] - low))
    else:
        low = max(low, ranked[len(ranked) // 2] - 2 * (high - ranked[len(ranked) // 2]))
    span = high - low or 1.0

    def at(number: int, value: float) -> Tuple[float, float]:
        x = _EDGE + (_WIDTH - 2 * _EDGE) * number / last
        y = _EDGE + (_HEIGHT - 2 * _EDGE) * (high - min(max(value, low), high)) / span
        return round(x, 1), round(y, 1)

    step = max(1, len(results) // _MOST_POINTS)
    points = ''.join('<circle cx="{}" cy="{}" r="1.5" fill="#8ac"/>'.format(*at(*result))
                     for result in results[::step])
    corners = []
    for number, value in line:
        if corners:
            corners.append((at(number, value)[0], corners[-1][1]))
        corners.append(at(number, value))
    corners.append((at(last, low)[0], corners[-1][1]))
    path = ' '.join(f'{x},{y}' for x, y in corners)
    return (f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" '
            f'aria-label="results over trials, {low:.4g} to {high:.4g}">{points}'
            f'<polyline points="{path}" fill="none" stroke="#c40" stroke-width="1.5"/></svg>')
