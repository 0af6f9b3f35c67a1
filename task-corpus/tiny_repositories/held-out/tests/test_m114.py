from tiny.m114 import f


def test_0():
    assert f([3, 3, 4]) == 24


def test_1():
    assert f([6, 7, 4, 0]) == 0


def test_2():
    assert f([0, 5, 1]) == 6


def test_3():
    assert f([1, 3]) == 18


def test_4():
    assert f([7, 5, 4]) == 24


def test_5():
    assert f([1, 9, 2, 1]) == 6


def test_6():
    assert f([1, 3, 3]) == 18


def test_7():
    assert f([1, 2, 7]) == 42
