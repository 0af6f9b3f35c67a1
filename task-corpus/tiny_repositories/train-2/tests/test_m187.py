from tiny.m187 import f


def test_0():
    assert f([9, 4, 3, 2]) == 9


def test_1():
    assert f([5, 3, 7]) == 7


def test_2():
    assert f([9, 9]) == 9


def test_3():
    assert f([3, 8, 8]) == 8


def test_4():
    assert f([3, 3]) == 3


def test_5():
    assert f([4, 5, 9, 3]) == 9


def test_6():
    assert f([1, 4, 3, 4]) == 4


def test_7():
    assert f([4, 6, 8]) == 8
