#!/usr/bin/env python3
"""Checks that rooms include only what scripts/layers.txt allows.

Errors: an include that is not allowed, an include of ours that is not relative to the root, a
cycle between rooms or between files, a permission that nobody uses (rooms without files are
exempt), a confined header or call outside of its place. A file above 400 lines is a warning.
A folder in a room may be a room itself (backends/local): its permissions are its own, and a
permission for the outer room is one for the files directly in it.
Includes are relative to the root, so a regex is a sufficient parser. A header that CMake makes
(version.h from version.h.in, api.pb.h and api.grpc.pb.h from api.proto) counts under the name that
is included.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
LONG_FILE = 400


def read_rules(text):
    """layers.txt -> ({room: permissions}, {free folders}, [(kind, what, places)])."""
    rooms, free, confined = {}, set(), []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split('#')[0].strip()
        match = re.fullmatch(r'room ([\w/]+):(.*)|free (\w+)|(header|call) (\S+):((?:\s.*)?)', line)
        if not line:
            continue
        if not match:
            raise ValueError(f'layers.txt:{number}: not understood: {line}')
        room, permissions, free_room, kind, what, places = match.groups()
        if room:
            rooms[room] = permissions.split()
        elif free_room:
            free.add(free_room)
        else:
            confined.append((kind, what, places.split()))
    return rooms, free, confined


def read_sources(root, folders):
    """{root-relative path: lines} of the C++ files below the folders."""
    sources = {}
    for folder in sorted(folders):
        for path in sorted((root / folder).rglob('*')):
            name = path.relative_to(root).as_posix().removesuffix('.in')
            if name.endswith('.proto'):
                stem = name.removesuffix('.proto')
                sources.update({f'{stem}.pb.h': [], f'{stem}.grpc.pb.h': []})
            if name.endswith(('.h', '.cpp')):
                sources[name] = path.read_text().splitlines()
    return sources


def includes(sources):
    """Every include: (file, line number, is it quoted, what)."""
    for file, lines in sources.items():
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                yield file, number, match[1] == '"', match[2]


def top_of(file):
    return file.split('/')[0]


def room_of(file, rooms):
    """The innermost room that holds the file; without one the folder at the root."""
    folder = file
    while '/' in folder:
        folder = folder.rsplit('/', 1)[0]
        if folder in rooms:
            return folder
    return top_of(file)


def find_cycle(graph):
    """One cycle of {node: set of nodes} as a list of nodes, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for following in sorted(graph.get(node, ())):
            if cycle := visit(following):
                return cycle
        path.pop()
        done.add(node)
        return None

    for start in sorted(graph):
        if cycle := visit(start):
            return cycle
    return None


def check_includes(sources, rooms, free):
    errors, used, room_graph, file_graph = [], set(), {}, {}
    for file, number, quoted, what in includes(sources):
        if not quoted:
            continue
        room, place = room_of(file, rooms), f'{file}:{number}'
        if what not in sources:
            errors.append(f'{place}: "{what}" is not a file of ours (includes start at the root)')
            continue
        file_graph.setdefault(file, set()).add(what)
        target = room_of(what, rooms)
        if target == room or room in free:
            continue
        room_graph.setdefault(room, set()).add(target)
        granted = [p for p in rooms[room] if p in (target, what)]
        used.update((room, p) for p in granted)
        if not granted:
            errors.append(f'{place}: {room} may not include "{what}"'
                          f' (allowed: {" ".join(rooms[room]) or "nothing of ours"})')
    filled = {room_of(file, rooms) for file in sources}
    for room, permissions in rooms.items():
        for permission in permissions:
            target = permission if permission in rooms else room_of(permission, rooms)
            if room in filled and target in filled and (room, permission) not in used:
                errors.append(f'layers.txt: stale: {room} does not include {permission}')
    for kind, graph in (('rooms', room_graph), ('files', file_graph)):
        if cycle := find_cycle(graph):
            errors.append(f'cycle of {kind}: ' + ' -> '.join(cycle))
    return errors


def check_confined(sources, free, confined):
    errors = []
    for kind, what, places in confined:
        first_user = {}  # folder of a 'folder/1' place -> the file that has taken it
        for file, lines in sources.items():
            folder = top_of(file)
            if folder in free:
                continue
            for number, line in enumerate(lines, 1):
                if kind == 'header':
                    match = INCLUDE.match(line)
                    found = match and match[1] == '<' and match[2].startswith(what)
                else:
                    found = what in line.split('//')[0]
                if not found or any(file == place or place[-1] == '/' and file.startswith(place)
                                    for place in places):
                    continue
                inside = file.rsplit('/', 1)[0]
                if f'{inside}/1' in places and first_user.setdefault(inside, file) == file:
                    continue
                errors.append(f'{file}:{number}: {kind} {what} belongs in'
                              f' {" ".join(places) or "no file yet"}')
    return errors


def check(root):
    """(errors, warnings) of the tree at root."""
    rooms, free, confined = read_rules((root / 'scripts/layers.txt').read_text())
    sources = read_sources(root, {top_of(room) for room in rooms} | free)
    errors = check_includes(sources, rooms, free) + check_confined(sources, free, confined)
    for folder in sorted(p.name for p in root.iterdir() if p.is_dir()):
        known = folder in free or any(top_of(room) == folder for room in rooms)
        if not known and (root / folder / 'CMakeLists.txt').exists():
            errors.append(f'{folder}/: not in layers.txt')
    for file in sources:
        if top_of(file) not in free and room_of(file, rooms) not in rooms:
            errors.append(f'{file}: in no room of layers.txt')
    warnings = [f'{file}: {len(lines)} lines, more than {LONG_FILE}'
                for file, lines in sources.items() if len(lines) > LONG_FILE]
    return errors, warnings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('root', nargs='?', type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    errors, warnings = check(parser.parse_args().root)
    for warning in warnings:
        print(f'warning: {warning}')
    for error in errors:
        print(f'error: {error}')
    print('layers: ' + (f'{len(errors)} errors' if errors else 'ok'))
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
