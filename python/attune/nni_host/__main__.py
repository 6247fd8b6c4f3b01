"""python3 -m attune.nni_host --kind tuner --class module.Class --directory FOLDER"""
from __future__ import annotations

import argparse
import os
import sys

from ..plugin_lines import Lines
from .loading import KINDS
from .serve import Server


def main() -> None:
    """Serves until its input ends, or `exit` comes."""
    parser = argparse.ArgumentParser(prog='attune.nni_host', description=__doc__)
    parser.add_argument('--kind', required=True, choices=KINDS)
    parser.add_argument('--class', required=True, dest='name', help='module.Class')
    parser.add_argument('--directory', required=True, help='where the module lies')
    options = parser.parse_args()
    Server(options.kind, options.name, options.directory).run(Lines())
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the class, and of NNI's base classes, would keep the process.
    os._exit(0)


main()
