from toolz.functions import compose

__all__ = ["compose"]
