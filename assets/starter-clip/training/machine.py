"""Leaves the machine to others: uses one thread while anything else runs, more when nothing does.

Training on the CPU counts its minutes in time that it really worked, so that a busy machine makes a run
longer but not worse.
"""
import time
from pathlib import Path

import torch

LOAD = Path("/proc/loadavg")


def use_idle_cores(limit):
    """Sets torch's threads: `limit` on an idle machine, one less for each other task that runs now."""
    if limit > 1 and LOAD.exists():
        others = int(LOAD.read_text().split()[3].split("/")[0]) - 1
        threads = max(1, limit - others)
        if threads != torch.get_num_threads():
            torch.set_num_threads(threads)


def minutes_worked(device):
    """Minutes on a clock that stands still while other programs have the processor; on a GPU, an ordinary clock."""
    return (time.thread_time() if device == "cpu" else time.time()) / 60
