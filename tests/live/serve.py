"""The half of a call that a system makes, in a process on another CPU: ``serve.py`` answers what `elsewhere` asks.

It reads pickles of (module, function, arguments) from its input and writes one of ("gave", result) or of ("refused",
text) for each. What systems print goes to the other stream.
"""

import importlib
import os
import pickle
import sys
import warnings


def main():
    warnings.simplefilter("ignore")  # systems warn of what they deprecate
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            module, function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = "gave", getattr(importlib.import_module(module), function)(*arguments)
        except Exception as refused:  # systems have errors of their own
            answer = "refused", f"{type(refused).__name__}: {refused}"
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
