from tiny.m191 import f


def test_0():
    assert f([1, 9]) == 12


def test_1():
    assert f([8, 9, 2, 7]) == 10


def test_2():
    assert f([9, 2]) == 5


def test_3():
    assert f([8, 6, 8, 4]) == 7


def test_4():
    assert f([4, 3, 9]) == 12


def test_5():
    assert f([6, 2, 5]) == 8


def test_6():
    assert f([7, 4, 0, 4]) == 7


def test_7():
    assert f([4, 8]) == 11
