from tiny.m148 import f


def test_0():
    assert f([3, 6]) == 9


def test_1():
    assert f([8, 4, 1]) == 9


def test_2():
    assert f([0, 2, 9, 3]) == 3


def test_3():
    assert f([2, 9, 0]) == 2


def test_4():
    assert f([2, 6, 0, 7]) == 9


def test_5():
    assert f([3, 3, 9, 7]) == 10


def test_6():
    assert f([9, 7, 3, 5]) == 14


def test_7():
    assert f([0, 1, 7]) == 7
