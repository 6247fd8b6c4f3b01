"""What an advisor says to its manager. Which way that goes, is up to whoever runs the advisor."""
from __future__ import annotations

import enum

__all__ = ['CommandType', 'send']


class CommandType(enum.Enum):
    """The commands, by the two letters that stand for them."""
    Initialize = b'IN'
    RequestTrialJobs = b'GE'
    ReportMetricData = b'ME'
    UpdateSearchSpace = b'SS'
    ImportData = b'FD'
    AddCustomizedTrialJob = b'AD'
    TrialEnd = b'EN'
    Terminate = b'TE'
    Ping = b'PI'
    Initialized = b'ID'
    NewTrialJob = b'TR'
    SendTrialJobParameter = b'SP'
    NoMoreTrialJobs = b'NO'
    KillTrialJob = b'KI'


def send(command: CommandType, data: str) -> None:
    """Sends a command with its payload, a JSON text. Only where an advisor is run."""
    raise RuntimeError(f'{command.name}: no manager runs this advisor')
