"""Changes the addresses of objects, and the hashes that hang on them or on the image, so that an output which depends on them is another one.

Each bit of an address and of a hash is the other one. Comparisons of identities and of hashes find the same as before."""

import builtins
import gc
import numbers

# The lowest two bits of an address are 0 in any case.
ADDRESS_BITS = 0xFFFF_FFFC
# Python defines their hashes by their values; and hashes of these are made of those of their items.
OF_VALUES = (numbers.Number, range, type(None))
OF_ITEMS = {tuple.__hash__: tuple.__iter__, frozenset.__hash__: frozenset.__iter__}


def change():
    move_new_objects()
    address, own_hash, function = builtins.id, builtins.hash, type(change)

    def other_id(thing, /):
        return address(thing) ^ ADDRESS_BITS

    def other_hash(thing, /):
        value = own_hash(thing)
        return value if is_known(thing) else ~value

    def is_known(thing):
        way = type(thing).__hash__
        if way in OF_ITEMS:
            return all(map(is_known, OF_ITEMS[way](thing)))
        # A class's own function asks for the hashes of values in its turn.
        return isinstance(way, function) or isinstance(thing, OF_VALUES) and way != object.__hash__

    builtins.id, builtins.hash = other_id, other_hash


def move_new_objects():
    """Takes the next free places of each size, and keeps them."""
    taken = [bytes(size) for size in range(1, 496, 8) for _ in range(3)]
    taken.append(taken)
    gc.freeze()
