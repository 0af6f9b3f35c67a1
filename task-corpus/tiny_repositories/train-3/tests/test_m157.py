from tiny.m157 import f


def test_0():
    assert f([6, 2]) == 106


def test_1():
    assert f([3, 1, 9, 6]) == 19


def test_2():
    assert f([6, 0]) == 156


def test_3():
    assert f([4, 0, 4, 6]) == 14


def test_4():
    assert f([0, 3, 4, 4]) == 11


def test_5():
    assert f([0, 3]) == 81


def test_6():
    assert f([0, 8]) == 206


def test_7():
    assert f([0, 6, 4]) == 10
