from tiny.m124 import f


def test_0():
    assert f([9, 1, 2]) == 28


def test_1():
    assert f([7, 8, 5]) == 44


def test_2():
    assert f([3, 1, 3]) == 18


def test_3():
    assert f([9, 6]) == 34


def test_4():
    assert f([2, 4, 3, 1]) == 24


def test_5():
    assert f([3, 1]) == 12


def test_6():
    assert f([9, 5, 7]) == 46


def test_7():
    assert f([4, 9, 7, 5]) == 54
