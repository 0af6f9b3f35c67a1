from tiny.m163 import f


def test_0():
    assert f([1, 4, 5, 2]) == 5


def test_1():
    assert f([9, 5, 7]) == 9


def test_2():
    assert f([5, 5, 0]) == 5


def test_3():
    assert f([6, 3, 4]) == 6


def test_4():
    assert f([3, 9]) == 9


def test_5():
    assert f([4, 3, 0, 4]) == 4


def test_6():
    assert f([1, 8, 3]) == 8


def test_7():
    assert f([8, 5]) == 8
