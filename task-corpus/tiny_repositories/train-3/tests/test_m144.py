from tiny.m144 import f


def test_0():
    assert f([8, 4, 2, 6]) == 24


def test_1():
    assert f([4, 0]) == 16


def test_2():
    assert f([3, 9, 6]) == 24


def test_3():
    assert f([5, 8, 6, 3]) == 12


def test_4():
    assert f([4, 6, 4]) == 16


def test_5():
    assert f([8, 8, 9]) == 36


def test_6():
    assert f([1, 7]) == 4


def test_7():
    assert f([2, 5]) == 8
