from tiny.m193 import f


def test_0():
    assert f([6, 5, 3, 6]) == 12


def test_1():
    assert f([1, 4, 1]) == 10


def test_2():
    assert f([8, 3, 3]) == 14


def test_3():
    assert f([2, 1]) == 8


def test_4():
    assert f([3, 7, 9]) == 13


def test_5():
    assert f([2, 3, 8, 9]) == 14


def test_6():
    assert f([1, 0, 6, 5]) == 12


def test_7():
    assert f([0, 7]) == 6
