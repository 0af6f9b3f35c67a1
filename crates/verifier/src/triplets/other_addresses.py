"""Changes the addresses of objects, and the hashes that hang on them or on the image, so that an output which depends on them is another one.

Comparisons of identities and of hashes find the same as before."""

import builtins
import gc


def change():
    move_new_objects()
    # A multiple of the alignment of objects.
    distance = 0x1234_5670
    address, own_hash, function = builtins.id, builtins.hash, type(change)

    def moved_id(thing, /):
        return address(thing) + distance

    def other_hash(thing, /):
        value = own_hash(thing)
        # Those of numbers and by a class's own function hang on values alone.
        is_known = isinstance(thing, (int, float, complex)) or isinstance(type(thing).__hash__, function)
        return value if is_known else value ^ distance

    builtins.id, builtins.hash = moved_id, other_hash


def move_new_objects():
    """Takes the next free places of each size, and keeps them."""
    taken = [bytes(size) for size in range(1, 496, 8) for _ in range(3)]
    taken.append(taken)
    gc.freeze()
