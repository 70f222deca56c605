"""What all tests share."""

import os

import torch
from hypothesis import settings

# Tiny models lose more to handing work between threads than they gain.
torch.set_num_threads(1)

# A slow machine is no failure (deadline); an unattended run tries the same examples every time.
settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
