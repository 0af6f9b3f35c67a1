from tiny.m029 import f


def test_0():
    assert f([7, 9, 3, 7]) == 32


def test_1():
    assert f([2, 2]) == 10


def test_2():
    assert f([7, 3]) == 16


def test_3():
    assert f([9, 8, 5]) == 28


def test_4():
    assert f([9, 3, 6]) == 24


def test_5():
    assert f([8, 0]) == 14


def test_6():
    assert f([3, 4]) == 13


def test_7():
    assert f([4, 8, 0]) == 18
