"""What parcels raise."""


class SizeError(ValueError):
    """A size that no parcel has."""
