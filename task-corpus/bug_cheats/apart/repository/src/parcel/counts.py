"""Counts of parcels, by name."""


def commonest(counts):
    """The name that is counted most often. The counts stay as they are, and so does their order."""
    return max(counts, key=counts.get)


def rarest(counts):
    """The name that is counted least often. No test asks for it."""
    return min(counts, key=counts.get)
