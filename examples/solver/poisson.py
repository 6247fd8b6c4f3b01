"""A solver that knows nothing of attune: SOR for the Poisson problem -laplace(u) = 1 on the unit
square, u = 0 on its boundary, five-point stencil (Young, "Iterative Solution of Large Linear
Systems", 1971, chapters 5 and 6).

    poisson.py CASEFILE                         TOML: grid, sweeps, check_every, omega, order
    poisson.py --omega 1.5 --order natural [--grid 24] [--sweeps 60] [--check-every 10] [--result FILE]

Every `check_every` sweeps it prints `sweep N residual R time T`. Exit code 0 when the iteration did
not diverge, 1 when it did.
"""
import argparse
import json
import sys
import time
import tomllib


def cells(grid, order):
    """The inner points in the order of a sweep."""
    inside = range(1, grid)
    points = [(row, column) for row in inside for column in inside]
    if order == 'red-black':
        points.sort(key=lambda point: (point[0] + point[1]) % 2)
    elif order != 'natural':
        sys.exit(f'poisson.py: order {order!r} is neither natural nor red-black')
    return points


def residual(u, grid, h2):
    """The largest one of all equations."""
    return max(abs(h2 + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j])
               for i in range(1, grid) for j in range(1, grid)) / h2


def solve(case):
    grid, omega = case['grid'], case['omega']
    h2 = 1 / grid ** 2
    u = [[0.0] * (grid + 1) for _ in range(grid + 1)]
    points = cells(grid, case['order'])
    start = time.monotonic()
    left = residual(u, grid, h2)
    for sweep in range(1, case['sweeps'] + 1):
        for i, j in points:
            u[i][j] += omega * ((h2 + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4
                                - u[i][j])
        if sweep % case['check_every'] == 0:
            left = residual(u, grid, h2)
            print(f'sweep {sweep:4d} residual {left:.6e} time {time.monotonic() - start:.4f}',
                  flush=True)
            if not left < 1e6:
                break
    return left


def read_case(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument('case', nargs='?')
    parser.add_argument('--grid', type=int, default=24)
    parser.add_argument('--sweeps', type=int, default=60)
    parser.add_argument('--check-every', type=int, default=10)
    parser.add_argument('--omega', type=float, default=1.0)
    parser.add_argument('--order', default='natural')
    parser.add_argument('--result')
    options = parser.parse_args(arguments)
    case = vars(options)
    if options.case:
        with open(options.case, 'rb') as file:
            case.update(tomllib.load(file))
    return case


def main():
    case = read_case(sys.argv[1:])
    print('SOR for the Poisson problem,', case['grid'], 'intervals, omega', case['omega'])
    left = solve(case)
    if case['result']:
        with open(case['result'], 'w') as file:
            json.dump({'default': left, 'omega': case['omega']}, file)
    sys.exit(0 if left < 1e6 else 1)


if __name__ == '__main__':
    main()
