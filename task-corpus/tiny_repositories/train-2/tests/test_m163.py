from tiny.m163 import f


def test_0():
    assert f([2, 6, 7, 3]) == 26


def test_1():
    assert f([4, 0, 9]) == 21


def test_2():
    assert f([7, 6]) == 21


def test_3():
    assert f([1, 3, 1, 4]) == 17


def test_4():
    assert f([3, 4]) == 15


def test_5():
    assert f([9, 1, 8, 4]) == 30


def test_6():
    assert f([9, 0, 9]) == 26


def test_7():
    assert f([1, 2, 3, 3]) == 17
