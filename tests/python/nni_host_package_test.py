"""attune.nni_host where a package nni is installed, so that our stand-in is not used."""
import textwrap
import unittest

from nni_host_process import HostCase


class InstalledPackage(HostCase):
    def install(self, files):
        for name, text in files.items():
            path = self.folder / 'packages' / 'nni' / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return self.folder / 'packages'

    def test_a_tuner_has_its_base_class(self):
        packages = self.install({'__init__.py': 'import os\nplatform = os.environ["NNI_PLATFORM"]\n',
                                 'tuner.py': """
            class Tuner:
                def update_search_space(self, space): pass
                def generate_multiple_parameters(self, ids, **kwargs):
                    return [self.generate_parameters(i) for i in ids]
        """})
        (self.folder / 'own.py').write_text(textwrap.dedent("""
            import nni, nni.tuner
            class Own(nni.tuner.Tuner):
                def generate_parameters(self, i): return {'platform': nni.platform}
        """))
        host = self.begun('own.Own', folder=self.folder, packages=packages)
        self.assertEqual(self.ask(host, 0), [{'parameters': {'platform': 'unittest'}}])

    def test_an_advisor_whose_base_class_has_a_channel(self):
        packages = self.install({
            '__init__.py': '', 'runtime/__init__.py': '',
            'runtime/tuner_command_channel.py': """
                import enum
                class CommandType(enum.Enum):
                    NewTrialJob = 'TR'
                class TunerCommandChannel:
                    def __init__(self, url): raise OSError('there is no manager')
            """,
            'runtime/msg_dispatcher_base.py': """
                import os
                from .tuner_command_channel import TunerCommandChannel
                class MsgDispatcherBase:
                    def __init__(self, url=None):
                        url = url or os.environ['NNI_TUNER_COMMAND_CHANNEL']
                        self._channel = TunerCommandChannel(url)
                        self._channel.connect()
                    def send(self, command, data):
                        self._channel._send(command, data)
            """})
        (self.folder / 'own.py').write_text(textwrap.dedent("""
            from nni.runtime.msg_dispatcher_base import MsgDispatcherBase
            from nni.runtime.tuner_command_channel import CommandType
            class Own(MsgDispatcherBase):
                def handle_initialize(self, data): pass
                def handle_request_trial_jobs(self, data):
                    self.send(CommandType.NewTrialJob, '{"parameter_id": 0, "parameters": 3}')
        """))
        host = self.begun('own.Own', folder=self.folder, kind='advisor', packages=packages)
        self.assertEqual(self.ask(host, 0), [{'parameters': 3}])


if __name__ == '__main__':
    unittest.main()
