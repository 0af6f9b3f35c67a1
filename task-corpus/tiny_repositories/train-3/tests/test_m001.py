from tiny.m001 import f


def test_0():
    assert f([1, 5, 7, 8]) == 128


def test_1():
    assert f([1, 4, 4]) == 32


def test_2():
    assert f([8, 2, 1]) == 128


def test_3():
    assert f([5, 4, 2, 6]) == 72


def test_4():
    assert f([1, 3, 8, 4]) == 128


def test_5():
    assert f([4, 0, 8, 9]) == 162


def test_6():
    assert f([7, 0, 3]) == 98


def test_7():
    assert f([6, 0, 9, 9]) == 162
