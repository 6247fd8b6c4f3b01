"""Runs a tuner, an assessor or an advisor that was written as a class for NNI.

attuned starts `python3 -m attune.nni_host`, and speaks with it as docs/plugin-protocol.md says.
"""
