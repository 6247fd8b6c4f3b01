"""As nni.runtime.protocol, whose place it took in NNI 2.8."""
from .protocol import CommandType

__all__ = ['CommandType']
