from tiny.m109 import f


def test_0():
    assert f([5, 5, 3]) == 3


def test_1():
    assert f([6, 4, 7]) == 4


def test_2():
    assert f([7, 0]) == 0


def test_3():
    assert f([1, 9, 7]) == 7


def test_4():
    assert f([6, 9, 4, 9]) == 4


def test_5():
    assert f([1, 2]) == 1


def test_6():
    assert f([5, 5, 2, 3]) == 2


def test_7():
    assert f([1, 8]) == 1
