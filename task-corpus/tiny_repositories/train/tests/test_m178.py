from tiny.m178 import f


def test_0():
    assert f([1, 4, 4, 8]) == -5


def test_1():
    assert f([7, 9, 4]) == 1


def test_2():
    assert f([8, 6, 3, 4]) == 2


def test_3():
    assert f([7, 9, 0, 3]) == 1


def test_4():
    assert f([1, 8, 8]) == -5


def test_5():
    assert f([5, 7, 0, 5]) == -1


def test_6():
    assert f([2, 2, 9]) == -4


def test_7():
    assert f([1, 6]) == -5
