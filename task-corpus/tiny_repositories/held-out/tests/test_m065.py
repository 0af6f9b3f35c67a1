from tiny.m065 import f


def test_0():
    assert f([9, 2]) == 2


def test_1():
    assert f([2, 5]) == 7


def test_2():
    assert f([7, 4, 8]) == 1


def test_3():
    assert f([4, 6]) == 1


def test_4():
    assert f([3, 2]) == 5


def test_5():
    assert f([8, 3, 5]) == 7


def test_6():
    assert f([4, 6, 0, 2]) == 3


def test_7():
    assert f([9, 1, 1]) == 2
