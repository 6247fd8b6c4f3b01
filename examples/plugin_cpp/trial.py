"""Gets nearer to (x - 1)^2 + (y + 2)^2 in steps, and reports each."""
import attune

parameters = attune.next_parameters({'x': 0.0, 'y': 0.0})
value = (parameters['x'] - 1) ** 2 + (parameters['y'] + 2) ** 2
for step in range(6):
    attune.report(value + 1 / (1 + step))
attune.final(value)
