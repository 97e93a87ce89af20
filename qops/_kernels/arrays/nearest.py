"""Which name was meant: the message of every refusal of a name, and the names that are nearest to a word."""

from collections.abc import Collection, Iterable

from qops._kernels.arrays.refusal import bad_value

__all__ = ["did_you_mean", "expected_one_of", "nearest"]

_MOST = 32
"""Names that a message lists."""
_LIKE = 0.6
"""How much of its letters a name must share with a word: what `difflib` takes by default."""


def nearest(word: object, names: Iterable[str], count: int = 1, like: float = _LIKE) -> list[str]:
    """Give the names that are nearest to a word, the best first. Case, hyphens, dots and underscores do not count.

    Parameters
    ----------
    word : object
        What was written; nothing is near to what is no str.
    names : iterable of str
        The names that there are.
    count : int
        How many are given at most.
    like : float
        How much of the letters is shared at least, from 0 to 1.

    Returns
    -------
    list of str
    """
    if not isinstance(word, str):
        return []
    from difflib import SequenceMatcher, get_close_matches  # here, because it takes milliseconds to import

    by_letters: dict[str, list[str]] = {}
    for name in names:
        by_letters.setdefault(_letters(name), []).append(name)
    found = get_close_matches(_letters(word), by_letters, count, like)
    alike = SequenceMatcher(b=word)

    def shared(name: str) -> float:
        alike.set_seq1(name)
        return alike.ratio()

    return [name for letters in found for name in sorted(by_letters[letters], key=shared, reverse=True)][:count]


def did_you_mean(word: object, names: Iterable[str]) -> str:
    """Give the question that ends a message, such as `` Did you mean 'matmul'?``; "" if no name is near.

    Parameters
    ----------
    word : object
        What was written.
    names : iterable of str
        The names that there are.

    Returns
    -------
    str
    """
    near = nearest(word, names)
    return f". Did you mean {near[0]!r}?" if near else ""


def expected_one_of(name: str, names: Collection[str], word: object, said: str) -> ValueError:
    """Make the error for a word that is none of the names: it lists them, those that are nearest first.

    Parameters
    ----------
    name : str
        The argument.
    names : collection of str
        What it may be. Of more than 32 the nearest five are listed.
    word : object
        What it is.
    said : str
        That, as a message shows it.

    Returns
    -------
    ValueError
    """
    if len(names) > _MOST:
        listed = nearest(word, names, 5, 0.0) or list(names)[:5]
        start = f"expected one of {len(names)} names, such as {', '.join(listed)}"
    else:
        first = nearest(word, names)
        start = f"expected one of {', '.join([*first, *(one for one in names if one not in first)])}"
    return bad_value(name, f"{start}, got {said}{did_you_mean(word, names)}")


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(".", "")
