from tiny.m175 import f


def test_0():
    assert f([5, 3, 9]) == 26


def test_1():
    assert f([1, 6, 9, 5]) == 30


def test_2():
    assert f([7, 7]) == 23


def test_3():
    assert f([3, 9, 3, 6]) == 30


def test_4():
    assert f([2, 5, 0, 8]) == 24


def test_5():
    assert f([8, 6]) == 23


def test_6():
    assert f([5, 9]) == 23


def test_7():
    assert f([7, 2]) == 18
