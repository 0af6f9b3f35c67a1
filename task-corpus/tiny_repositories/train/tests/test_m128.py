from tiny.m128 import f


def test_0():
    assert f([5, 4, 0, 4]) == 1


def test_1():
    assert f([7, 8, 9, 7]) == 1


def test_2():
    assert f([5, 8]) == 1


def test_3():
    assert f([5, 2, 1, 7]) == 3


def test_4():
    assert f([1, 5, 6, 7]) == 1


def test_5():
    assert f([2, 7, 4]) == 1


def test_6():
    assert f([2, 1, 0, 2]) == 5


def test_7():
    assert f([1, 9, 4]) == 2
