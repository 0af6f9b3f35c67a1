from tiny.m026 import f


def test_0():
    assert f([1, 3, 9]) == 3


def test_1():
    assert f([8, 7, 6]) == 7


def test_2():
    assert f([9, 1, 0]) == 1


def test_3():
    assert f([8, 9, 0]) == 8


def test_4():
    assert f([3, 0, 7, 9]) == 3


def test_5():
    assert f([3, 6, 5, 6]) == 5


def test_6():
    assert f([1, 2, 1, 4]) == 1


def test_7():
    assert f([2, 2, 6, 0]) == 2
