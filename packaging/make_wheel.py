#!/usr/bin/python3
"""Makes the wheel: the package of python/ with the programs of a portable installation in attune/_bin
and the shared libraries in attune/_lib.

    make_wheel.py INSTALLATION LICENSES FOLDER      makes FOLDER/attune-VERSION-py3-none-PLATFORM.whl

setuptools makes a wheel of the package alone, and Debian's `wheel` unpacks and packs it. Nothing is
fetched. The platform is computed: the newest glibc whose symbols the programs and libraries use.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Iterable, List

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = '/usr/bin/python3'  # Debian's, for Debian's setuptools and wheel
PROGRAMS = ('attune', 'attuned', 'attune-shim')
# Of glibc, which every Linux has that a manylinux wheel is for.
GLIBC = {'libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1',
         'ld-linux-x86-64.so.2'}
LAUNCHER = '''#!python
# Starts the program of the same name in the package.
import os
import sys
name = os.path.basename(__file__)
places = [os.path.join(folder, 'attune', '_bin', name) for folder in sys.path]
program = next(filter(os.path.exists, places), None)
if not program:
    sys.exit(f'{name}: no package attune with programs in {sys.path}')
os.execv(program, [program, *sys.argv[1:]])
'''


def run(*command, **more) -> str:
    """What the command prints; its failure is ours."""
    done = subprocess.run([str(part) for part in command], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, command))}: exit code {done.returncode}\n{done.stdout}')
    return done.stdout


def platform_of(files: Iterable[pathlib.Path]) -> str:
    """`manylinux_2_36_x86_64` for what uses GLIBC_2.36 and nothing newer. ValueError: a library is
    needed that is neither of glibc nor among the files."""
    newest = (0, 0)
    needed, here = set(), set()
    for file in files:
        here.add(file.name)
        text = run('objdump', '-p', file)
        if 'file format elf64-x86-64' not in text:
            raise ValueError(f'{file}: not for x86_64')
        needed |= set(re.findall(r'NEEDED\s+(\S+)', text))
        for version in re.findall(r'\bGLIBC_(\d+)\.(\d+)', text):
            newest = max(newest, tuple(map(int, version)))
    if foreign := needed - here - GLIBC:
        raise ValueError(f'needed, and not in the wheel: {", ".join(sorted(foreign))}')
    return f'manylinux_{newest[0]}_{newest[1]}_x86_64'


def add_binaries(installation: pathlib.Path, package: pathlib.Path) -> List[pathlib.Path]:
    """Copies programs and libraries into the package, and returns the copies."""
    copies = [package / '_bin' / program for program in PROGRAMS]
    for copy in copies:
        copy.parent.mkdir(exist_ok=True)
        shutil.copy2(installation / 'bin' / copy.name, copy)
    (package / '_lib').mkdir()
    for pattern, name in (('libattune_study.so.*.*', 'libattune_study.so'), ('libnlopt.so.?', None)):
        (library,) = (installation / 'lib').glob(pattern)
        copies.append(package / '_lib' / (name or library.name))
        shutil.copy2(library, copies[-1])
    return copies


def copy_package(folder: pathlib.Path) -> None:
    """What pyproject.toml names, into a new folder: setuptools leaves files beside it."""
    def ignored(where: str, names: List[str]) -> List[str]:
        stand_ins = ['compat'] if pathlib.Path(where) == ROOT / 'python' else []
        return [name for name in names if name in ['__pycache__', *stand_ins]]

    shutil.copytree(ROOT / 'python', folder, ignore=ignored)


def main() -> None:
    """Prints the path of the wheel."""
    installation, licenses, folder = map(pathlib.Path, sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix='attune_wheel_') as name:
        work = pathlib.Path(name)
        copy_package(work / 'python')
        run(PYTHON, '-c', 'import setuptools.build_meta as b; b.build_wheel("..")',
            cwd=work / 'python')
        (pure,) = work.glob('*.whl')
        run(PYTHON, '-m', 'wheel', 'unpack', '--dest', work, pure)
        (tree,) = (path.parent for path in work.glob('attune-*/attune'))
        (info,) = tree.glob('*.dist-info')

        platform = platform_of(add_binaries(installation, tree / 'attune'))
        scripts = tree / info.name.replace('.dist-info', '.data') / 'scripts'
        scripts.mkdir(parents=True)
        for program in ('attune', 'attuned'):
            (scripts / program).write_text(LAUNCHER, encoding='utf-8')
            (scripts / program).chmod(0o755)
        shutil.copytree(licenses, info / 'licenses')
        about = (info / 'WHEEL').read_text(encoding='utf-8')
        about = about.replace('Root-Is-Purelib: true', 'Root-Is-Purelib: false')
        about = re.sub(r'(?m)^Tag: .*$', f'Tag: py3-none-{platform}', about)
        (info / 'WHEEL').write_text(about, encoding='utf-8')
        run(PYTHON, '-m', 'wheel', 'pack', '--dest-dir', folder, tree)
        print(folder / f'{tree.name}-py3-none-{platform}.whl')


if __name__ == '__main__':
    main()
