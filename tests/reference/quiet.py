"""Import this first: no network, no progress bars, one thread, so that every run gives the same bits."""

import os
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import diffusers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

torch.set_num_threads(1)
torch.set_grad_enabled(False)
transformers.utils.logging.disable_progress_bar()
diffusers.utils.logging.set_verbosity_error()
diffusers.utils.logging.disable_progress_bar()
