from tiny.m219 import f


def test_0():
    assert f([5, 8]) == 11


def test_1():
    assert f([5, 2]) == 5


def test_2():
    assert f([7, 1, 9]) == 14


def test_3():
    assert f([4, 2]) == 36


def test_4():
    assert f([1, 2, 5]) == 36


def test_5():
    assert f([5, 3, 3, 6]) == 9


def test_6():
    assert f([9, 8, 0, 7]) == 14


def test_7():
    assert f([2, 9]) == 9
