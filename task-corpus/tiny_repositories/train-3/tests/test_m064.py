from tiny.m064 import f


def test_0():
    assert f([7, 2, 5, 5]) == 26


def test_1():
    assert f([2, 0, 9, 9]) == 27


def test_2():
    assert f([0, 7, 2, 2]) == 18


def test_3():
    assert f([6, 1]) == 14


def test_4():
    assert f([0, 1, 5]) == 13


def test_5():
    assert f([6, 6]) == 19


def test_6():
    assert f([9, 5, 7]) == 28


def test_7():
    assert f([8, 5]) == 20
