#!/usr/bin/env python3
"""Compares the interface of each C library with its record, study/study_c.abi and trial/trial_c.abi.

    check_abi.py                         the headers
    check_abi.py --library study FILE    also what the built library exports, and its SONAME
    check_abi.py --write                 records what was added, or everything under a new number

A program that was linked before must go on to work. What is recorded may not go and may not change
until the header's ATTUNE_STUDY_ABI or ATTUNE_TRIAL_ABI is raised; the SONAME has that number.
"""
import argparse
import pathlib
import re
import subprocess
import sys
from typing import List, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARIES = ('study', 'trial')


class AbiError(Exception):
    """What is wrong, and what to do."""


class NotRecorded(AbiError):
    """Something was added, which the record lacks."""


def interface_of(header: pathlib.Path) -> Tuple[int, List[str]]:
    """The ABI number of a header, and its types, enumerators and functions, each in one line, sorted.
    Names of arguments are left out: nothing depends on them."""
    number = re.search(r'#define ATTUNE_\w+_ABI (\d+)', header.read_text(encoding='utf-8'))
    if not number:
        raise AbiError(f'{header}: no #define ATTUNE_..._ABI')
    text = subprocess.run(['cc', '-E', '-P', '-x', 'c', header], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    lines = []
    for enumerators in re.findall(r'enum\s*\{([^}]*attune_[^}]*)\}', text, re.I):
        lines += [f'enumerator {" ".join(each.split())}' for each in enumerators.split(',')
                  if each.strip()]
    for statement in re.sub(r'enum\s*\{[^}]*\}', '', text).split(';'):
        statement = ' '.join(statement.split())
        if 'attune_' in statement:
            lines.append(without_names(statement))
    return int(number[1]), sorted(lines)


def without_names(declaration: str) -> str:
    """`int f(const char* name, double x)` is `int f(const char*, double)`."""
    function = re.fullmatch(r'(.*\b\w+)\s?\((.*)\)', declaration)
    if not function:
        return declaration
    arguments = [re.sub(r'(?<=[\s*])\w+$', '', each.strip()).strip()
                 if re.search(r'[\w*]\s*\b\w+$', each.strip()) else each.strip()
                 for each in function[2].split(',')]
    return f'{function[1]}({", ".join(arguments)})'


def compare(record: str, number: int, lines: List[str]) -> None:
    """AbiError: the interface is not what the record, the text of an .abi file, says."""
    first, *recorded = record.splitlines()
    recorded_number = int(first.removeprefix('abi '))
    gone = [line for line in recorded if line not in lines]
    added = [line for line in lines if line not in recorded]
    if number < recorded_number:
        raise AbiError(f'the ABI number is {number}, after {recorded_number}')
    if number == recorded_number and gone:
        raise AbiError('programs that were linked before break. Keep the old function and add a new '
                       'one, or raise the ABI number. Gone or changed:\n  ' + '\n  '.join(gone))
    if number > recorded_number or added:
        raise NotRecorded('not recorded yet: scripts/check_abi.py --write, and commit it. New:\n  ' +
                          '\n  '.join(added or [f'abi {number}']))


def exported_by(library: pathlib.Path) -> List[str]:
    """The functions that a shared library exports, sorted."""
    text = subprocess.run(['nm', '-D', '--defined-only', library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return sorted(line.split()[-1].split('@')[0] for line in text.splitlines())


def check_library(name: str, library: pathlib.Path, number: int, lines: List[str]) -> None:
    """AbiError: the library does not have the functions of the header, or has another SONAME."""
    declared = sorted(found[1] for line in lines if (found := re.search(r'(\w+)\(', line)))
    exported = exported_by(library)
    if declared != exported:
        raise AbiError(f'{library} and {name}_c.h differ: ' +
                       ', '.join(sorted({*declared} ^ {*exported})))
    text = subprocess.run(['objdump', '-p', library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    soname = re.search(r'SONAME\s+(\S+)', text)
    expected = f'libattune_{name}.so.{number}'
    if not soname or soname[1] != expected:
        raise AbiError(f'{library}: the SONAME is not {expected}')


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--write', action='store_true', help='record the interface')
    parser.add_argument('--library', nargs=2, action='append', default=[], metavar=('NAME', 'FILE'))
    options = parser.parse_args()
    wrong = 0
    for name in LIBRARIES:
        record = ROOT / name / f'{name}_c.abi'
        try:
            number, lines = interface_of(ROOT / name / f'{name}_c.h')
            if options.write:
                old = record.read_text(encoding='utf-8') if record.exists() else f'abi {number}\n'
                try:
                    compare(old, number, lines)
                except NotRecorded:
                    pass
                record.write_text('\n'.join([f'abi {number}', *lines, '']), encoding='utf-8')
            compare(record.read_text(encoding='utf-8'), number, lines)
            for library in (file for other, file in options.library if other == name):
                check_library(name, pathlib.Path(library), number, lines)
        except AbiError as error:
            print(f'error: {name}: {error}', file=sys.stderr)
            wrong = 1
    if not wrong:
        print('abi: ok')
    return wrong


if __name__ == '__main__':
    sys.exit(main())
