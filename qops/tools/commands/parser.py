"""What the commands share: a parser whose errors name the nearest word, and lists in their help."""

import argparse
import re
from collections.abc import Mapping
from textwrap import fill
from typing import Any, NoReturn

from qops._kernels.arrays.nearest import did_you_mean

__all__ = ["Parser", "command", "listed", "rule_list"]


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with the word that may have been meant, as argparse does from Python 3.14 on."""

    def error(self, message: str) -> NoReturn:
        """Print the message with the nearest word, and exit with 2."""
        wrong = re.search(r"(?:invalid choice: '|unrecognized arguments: )([^ ',]+)", message)
        near = "" if wrong is None or "Did you mean" in message else did_you_mean(wrong[1], self._words())
        super().error(f"{message}{near}")

    def _words(self) -> list[str]:
        """Give the options of this command and of those below it, and all that they let one choose from."""
        below = [a.choices for a in self._actions if isinstance(a, argparse._SubParsersAction)]
        words = [word for a in self._actions for word in (*a.option_strings, *map(str, a.choices or ()))]
        return words + [word for commands in below for parser in commands.values() for word in parser._words()]


def command(commands: Any, name: str, words: str, end: str | None = None) -> argparse.ArgumentParser:
    """Add a command. `words` describe it in the list of commands and at the top of its help."""
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog=end,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return made


def rule_list(rules: Mapping[str, Any]) -> str:
    """List rules with the systems that have them."""
    return listed("rules:", {name: row.systems for name, row in rules.items()})


def listed(title: str, rows: dict[str, str]) -> str:
    """Wrap each row by itself; argparse would break names at their hyphens."""
    wide = max(map(len, rows)) + 4
    lines = (
        fill(text, 80, initial_indent=f"  {name:<{wide - 2}}", subsequent_indent=" " * wide, break_on_hyphens=False)
        for name, text in rows.items()
    )
    return "\n".join([title, *lines])
