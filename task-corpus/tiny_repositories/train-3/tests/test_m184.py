from tiny.m184 import f


def test_0():
    assert f([2, 2]) == 11


def test_1():
    assert f([0, 2]) == 11


def test_2():
    assert f([5, 8, 6, 2]) == 17


def test_3():
    assert f([4, 1, 3, 7]) == 16


def test_4():
    assert f([4, 7, 2, 1]) == 16


def test_5():
    assert f([3, 8]) == 17


def test_6():
    assert f([1, 3]) == 12


def test_7():
    assert f([7, 3, 2, 5]) == 16
