from tiny.m193 import f


def test_0():
    assert f([5, 5]) == -11


def test_1():
    assert f([8, 5, 1, 3]) == -19


def test_2():
    assert f([0, 1, 8, 6]) == -7


def test_3():
    assert f([5, 5, 7]) == -3


def test_4():
    assert f([9, 8, 5, 8]) == 1


def test_5():
    assert f([1, 7, 2]) == -23


def test_6():
    assert f([8, 4]) == -15


def test_7():
    assert f([4, 0]) == -31
