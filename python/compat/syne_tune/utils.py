"""Checkpoints, and configurations from a file, as Syne Tune's scripts use them."""
from __future__ import annotations

import argparse
import json
import os
from typing import Any, Callable, Dict

from .constants import ST_CHECKPOINT_DIR, ST_CONFIG_JSON_FNAME_ARG

__all__ = ['add_checkpointing_to_argparse', 'add_config_json_to_argparse',
           'checkpoint_model_at_rung_level', 'load_config_json', 'resume_from_checkpointed_model']


def add_checkpointing_to_argparse(parser: argparse.ArgumentParser) -> None:
    """Accepts --st_checkpoint_dir DIR."""
    parser.add_argument(f'--{ST_CHECKPOINT_DIR}', type=str)


def add_config_json_to_argparse(parser: argparse.ArgumentParser) -> None:
    """Accepts --st_config_json_filename FILE."""
    parser.add_argument(f'--{ST_CONFIG_JSON_FNAME_ARG}', type=str)


def load_config_json(args: Dict[str, Any]) -> Dict[str, Any]:
    """What the file that `args` names holds, and over it `args`, as Syne Tune merges them: an
    argument that was not given counts too, with its default."""
    with open(args[ST_CONFIG_JSON_FNAME_ARG], encoding='utf-8') as file:
        return {**json.load(file), **args}


def resume_from_checkpointed_model(config: Dict[str, Any],
                                   load_model_fn: Callable[[str], int]) -> int:
    """What load_model_fn(folder) returns: the resource level to go on from; 0: no checkpoint.

    It is not called when there is no folder, and has to cope with an empty one.
    """
    folder = config.get(ST_CHECKPOINT_DIR)
    if folder is None or not os.path.exists(folder):
        return 0
    return load_model_fn(folder)


def checkpoint_model_at_rung_level(config: Dict[str, Any],
                                   save_model_fn: Callable[[str, int], Any],
                                   resource: int) -> None:
    """Calls save_model_fn(folder, resource) when there is a folder."""
    folder = config.get(ST_CHECKPOINT_DIR)
    if folder is not None:
        save_model_fn(folder, resource)
