from tiny.m026 import f


def test_0():
    assert f([7, 9, 9]) == 1


def test_1():
    assert f([9, 4, 8]) == 3


def test_2():
    assert f([4, 4, 1]) == 4


def test_3():
    assert f([8, 5, 7]) == 2


def test_4():
    assert f([9, 8]) == 3


def test_5():
    assert f([0, 2, 7, 2]) == 0


def test_6():
    assert f([4, 8, 0, 7]) == 4


def test_7():
    assert f([8, 9, 2, 7]) == 2
