#!/usr/bin/env python3
"""Checks that no two files define types of one name in one namespace.

A program that links both has two types of one name: the linker keeps one constructor for both, and
nobody is told. Types in unnamed namespaces and within others do not count, nor do those of programs
that stand alone (folders that scripts/layers.txt calls free).
Our sources do not indent what is in namespaces, so a regex is a sufficient parser.
"""
import pathlib
import re
import sys

from check_layers import read_rules, read_sources, top_of

NAMESPACE = re.compile(r'(?:inline )?namespace ?([\w:]*) ?\{')
# A line that ends with ; only declares.
TYPE = re.compile(r'(?:class|struct|union|enum(?: class)?) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : .*| \{.*)?(?<!;)$')
WHOLE = re.compile(r'(?:class|struct|union|enum(?: class)?) (?:\[\[\w+\]\] )?(\w+)[^;(]*\{.*\};')


def types(lines):
    """The names of the types that the lines define, with their namespaces."""
    within = []
    for line in lines:
        code = line.split('//')[0].rstrip()
        if match := NAMESPACE.fullmatch(code):
            within.append(match[1])
        elif code == '}' and '// namespace' in line and within:
            within.pop()
        elif '' not in within and (match := TYPE.match(code) or WHOLE.match(code)):
            yield '::'.join([*within, match[1]])


def check(sources):
    """Errors for {path: lines}."""
    places = {}
    for file, lines in sources.items():
        for name in set(types(lines)):
            places.setdefault(name, []).append(file)
    return [f'{name} is defined in {" and ".join(files)}; give one another name'
            for name, files in sorted(places.items()) if len(files) > 1]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    rooms, free, _ = read_rules((root / 'scripts/layers.txt').read_text())
    errors = check(read_sources(root, {top_of(room) for room in rooms} - free))
    for error in errors:
        print(f'error: {error}')
    print('names: ' + (f'{len(errors)} errors' if errors else 'ok'))
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
