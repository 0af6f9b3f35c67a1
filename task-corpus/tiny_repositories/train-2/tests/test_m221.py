from tiny.m221 import f


def test_0():
    assert f([4, 7, 5, 9]) == 9


def test_1():
    assert f([2, 2, 8, 6]) == 7


def test_2():
    assert f([0, 8]) == 5


def test_3():
    assert f([6, 3, 2]) == 7


def test_4():
    assert f([7, 2, 8, 4]) == 7


def test_5():
    assert f([9, 5]) == 10


def test_6():
    assert f([4, 8, 8]) == 9


def test_7():
    assert f([6, 8]) == 11
