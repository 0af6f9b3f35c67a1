from tally.core import Amount, mean, total
from tally.names import label

__all__ = ["Amount", "label", "mean", "total"]
