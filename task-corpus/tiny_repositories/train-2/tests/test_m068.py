from tiny.m068 import f


def test_0():
    assert f([4, 8]) == 7


def test_1():
    assert f([5, 9, 7]) == 10


def test_2():
    assert f([0, 0]) == 3


def test_3():
    assert f([7, 1, 8, 3]) == 11


def test_4():
    assert f([2, 5, 5, 8]) == 8


def test_5():
    assert f([8, 2, 2]) == 11


def test_6():
    assert f([0, 8, 8]) == 11


def test_7():
    assert f([6, 1]) == 9
