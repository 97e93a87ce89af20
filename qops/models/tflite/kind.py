"""`Kind`: what an operator of TFLite is, said once."""

from __future__ import annotations

from dataclasses import dataclass

from qops.models.operator import OperatorKind

__all__ = ["Kind"]


@dataclass(frozen=True, kw_only=True)
class Kind(OperatorKind):
    """One operator of TFLite, in the file of its family.

    Attributes
    ----------
    schema : str
        The table of its options in the schema of the files; "" if it has none.
    version : int
        The version of the operator at which LiteRT has its kernels of 8 and of 16 bits.
    sums : (int, int) or None
        Where data and weights stand among its inputs, if it sums up their products; the bias is the one after them.
    is_of_variable : bool
        Whether it reads or writes a variable, which its first input names.
    """

    schema: str = ""
    version: int = 2
    sums: tuple[int, int] | None = None
    is_of_variable: bool = False
