"""As nni.runtime.msg_dispatcher_base, which lay here until NNI 2.0."""
from .runtime.msg_dispatcher_base import MsgDispatcherBase

__all__ = ['MsgDispatcherBase']
