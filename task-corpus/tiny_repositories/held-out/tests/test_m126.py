from tiny.m126 import f


def test_0():
    assert f([9, 3, 4, 6]) == -3


def test_1():
    assert f([6, 9]) == 0


def test_2():
    assert f([6, 5, 6]) == -1


def test_3():
    assert f([8, 6]) == 0


def test_4():
    assert f([4, 3, 4, 1]) == -5


def test_5():
    assert f([8, 1, 9, 9]) == -5


def test_6():
    assert f([6, 8, 1, 4]) == -5


def test_7():
    assert f([3, 7]) == -3
