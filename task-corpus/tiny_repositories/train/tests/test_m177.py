from tiny.m177 import f


def test_0():
    assert f([6, 8, 0]) == 43


def test_1():
    assert f([4, 0, 0]) == 23


def test_2():
    assert f([2, 1]) == 13


def test_3():
    assert f([6, 1, 7, 2]) == 38


def test_4():
    assert f([7, 7]) == 38


def test_5():
    assert f([3, 3, 3]) == 18


def test_6():
    assert f([8, 4, 6, 1]) == 43


def test_7():
    assert f([5, 8]) == 43
