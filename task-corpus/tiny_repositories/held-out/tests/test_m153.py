from tiny.m153 import f


def test_0():
    assert f([5, 2, 7]) == 0


def test_1():
    assert f([9, 1, 3]) == 0


def test_2():
    assert f([8, 1, 7]) == 1


def test_3():
    assert f([0, 7, 1, 5]) == 2


def test_4():
    assert f([5, 5, 6, 4]) == 0


def test_5():
    assert f([1, 9, 6, 5]) == 3


def test_6():
    assert f([8, 7, 9, 2]) == 2


def test_7():
    assert f([4, 4, 2]) == 0
