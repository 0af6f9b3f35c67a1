"""Labels of parcels."""


class LabelError(ValueError):
    """A label that is not one."""


def ordered(labels):
    """Them in their order. The list that is given stays as it is."""
    return sorted(labels)


def grams_on(label):
    """The number that a label begins with."""
    return int(label.split()[0])


def checked(label):
    """The label. An empty one is an error."""
    if not label:
        raise LabelError("an empty label")
    return label


def quoted(label):
    """A Python literal of it."""
    return repr(label)


def copied(labels):
    """Another list of the same labels."""
    return list(labels)
