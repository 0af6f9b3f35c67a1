from tiny.m022 import f


def test_0():
    assert f([8, 0]) == 1


def test_1():
    assert f([3, 0, 0, 5]) == -2


def test_2():
    assert f([2, 4, 8, 0]) == 1


def test_3():
    assert f([4, 4]) == -3


def test_4():
    assert f([9, 4, 8]) == 2


def test_5():
    assert f([4, 2]) == -3


def test_6():
    assert f([4, 1, 6, 4]) == -1


def test_7():
    assert f([6, 0]) == -1
