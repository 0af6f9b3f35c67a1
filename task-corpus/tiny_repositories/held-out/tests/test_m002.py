from tiny.m002 import f


def test_0():
    assert f([4, 2]) == 5


def test_1():
    assert f([2, 0, 9, 4]) == 7


def test_2():
    assert f([4, 5, 8, 3]) == 4


def test_3():
    assert f([3, 0]) == 7


def test_4():
    assert f([7, 8]) == 0


def test_5():
    assert f([7, 2, 9]) == 5


def test_6():
    assert f([3, 8]) == 4


def test_7():
    assert f([7, 3, 4, 8]) == 4
