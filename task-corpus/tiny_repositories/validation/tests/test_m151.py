from tiny.m151 import f


def test_0():
    assert f([2, 6, 0, 7]) == 48


def test_1():
    assert f([3, 3, 9, 7]) == 72


def test_2():
    assert f([9, 7, 3, 5]) == 216


def test_3():
    assert f([0, 1, 7]) == 0


def test_4():
    assert f([1, 5, 5]) == 24


def test_5():
    assert f([9, 0]) == 216


def test_6():
    assert f([4, 3, 7]) == 96


def test_7():
    assert f([1, 1, 9, 3]) == 24
