"""One printed number beside ours."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

MATCHES, MISPRINT, UNMATCHED = "matches", "misprint", "cannot be matched"
MOST_STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class PrintedNumber:
    """A number of the paper, ours, and whether they agree.

    Parameters
    ----------
    place : str
        Where it stands.
    quantity : str
    printed : float
    ours : float
    digits : int
        Decimals printed.
    standard_error : float
        Monte Carlo standard error of ours; 0 where ours is exact.
    printed_standard_error : float
        That of the printed number, from our spread of runs and the paper's number of them.
    at_least : bool
        Whether the paper claims no more than that ours is not below the printed number.
    misprint : str
        Why the printed number is a misprint; empty if it is none.
    tried : str
        Where it cannot be matched, what we tried; otherwise a remark.
    """

    place: str
    quantity: str
    printed: float
    ours: float
    _: KW_ONLY
    digits: int = 3
    standard_error: float = 0.0
    printed_standard_error: float = 0.0
    at_least: bool = False
    misprint: str = ""
    tried: str = ""

    @property
    def z(self) -> float | None:
        """Printed minus ours in standard errors, rounding included; None if both are exact."""
        if self.standard_error == self.printed_standard_error == 0:
            return None
        return (self.printed - self.ours) / self.difference_error

    @property
    def difference_error(self) -> float:
        """Standard error of printed minus ours, rounding included."""
        rounding = 10.0**-self.digits / np.sqrt(12)
        errors = (self.standard_error, self.printed_standard_error, rounding)
        return float(np.sqrt(np.square(errors).sum()))

    @property
    def verdict(self) -> str:
        """Whether ours, rounded, is the printed number, or within three standard errors."""
        if self.misprint:
            return MISPRINT
        if self.z is not None:
            far = self.z if self.at_least else abs(self.z)
            return MATCHES if far <= MOST_STANDARD_ERRORS else UNMATCHED
        rounding = 0.5 * 10.0**-self.digits + 1e-9
        return MATCHES if abs(self.printed - self.ours) <= rounding else UNMATCHED

    @property
    def note(self) -> str:
        """The argument for a misprint, or what was tried."""
        return self.misprint or self.tried
