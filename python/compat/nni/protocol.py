"""As nni.runtime.protocol, which lay here until NNI 2.0."""
from .runtime.protocol import CommandType, send

__all__ = ['CommandType', 'send']
