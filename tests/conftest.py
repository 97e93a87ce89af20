"""Settings of hypothesis: no clock decides a test, and what failed once is drawn again from the same seed."""

from hypothesis import settings

settings.register_profile("qops", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("qops")
