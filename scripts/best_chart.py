"""Draws best-so-far curves with characters, for a terminal."""


def mean_curve(curves):
    """Element by element; a curve that ends early keeps its last value."""
    length = max(map(len, curves))
    padded = [curve + curve[-1:] * (length - len(curve)) for curve in curves]
    return [sum(column) / len(column) for column in zip(*padded)]


def chart(curves, lowest, height=12):
    """Lines of text of {mark: curve}: one column for each trial, accuracies from `lowest` up. Where
    two curves meet, the later mark of the dictionary is seen. Nothing below `lowest` is drawn."""
    highest = max(max(curve) for curve in curves.values())
    width = max(map(len, curves.values()))
    step = (highest - lowest) / (height - 1) or 1.0
    rows = [[' '] * width for _ in range(height)]
    for mark, curve in curves.items():
        for x, value in enumerate(curve):
            if value >= lowest:
                rows[round((value - lowest) / step)][x] = mark
    lines = [f'{lowest + y * step:.3f} |' + ''.join(rows[y]).rstrip()
             for y in reversed(range(height))]
    axis = ''.join(f'{x:>10}' for x in range(10, width + 1, 10))
    return lines + ['      +' + '-' * width, '       ' + axis]
