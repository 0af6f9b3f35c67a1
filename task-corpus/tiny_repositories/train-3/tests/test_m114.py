from tiny.m114 import f


def test_0():
    assert f([2, 7]) == 4


def test_1():
    assert f([8, 0]) == 16


def test_2():
    assert f([5, 4, 3]) == 10


def test_3():
    assert f([9, 6]) == 18


def test_4():
    assert f([9, 8, 6, 7]) == 18


def test_5():
    assert f([2, 5, 4, 9]) == 4


def test_6():
    assert f([3, 0, 8]) == 6


def test_7():
    assert f([5, 3, 6, 4]) == 10
