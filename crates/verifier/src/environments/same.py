def typed(key):
    if type(key) in (tuple, frozenset):
        return type(key), type(key)(map(typed, key))
    return type(key), key if key == key else 'nan'


def same(one, other):
    if type(one) is not type(other):
        return False
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is dict:
        one, other = ({typed(key): item for key, item in found.items()} for found in (one, other))
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one) in (set, frozenset):
        return set(map(typed, one)) == set(map(typed, other))
    return one == other or one != one and other != other
