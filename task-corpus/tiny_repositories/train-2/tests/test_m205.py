from tiny.m205 import f


def test_0():
    assert f([7, 8, 0]) == 7


def test_1():
    assert f([5, 1]) == 5


def test_2():
    assert f([7, 7, 9, 1]) == 7


def test_3():
    assert f([3, 3, 6, 6]) == 3


def test_4():
    assert f([1, 6, 0]) == 1


def test_5():
    assert f([9, 9, 2, 8]) == 9


def test_6():
    assert f([2, 3, 9, 1]) == 2


def test_7():
    assert f([4, 1, 6, 1]) == 4
