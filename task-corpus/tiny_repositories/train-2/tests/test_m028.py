from tiny.m028 import f


def test_0():
    assert f([5, 6]) == 5


def test_1():
    assert f([1, 8, 8]) == 5


def test_2():
    assert f([6, 8, 5, 2]) == 3


def test_3():
    assert f([8, 7, 9, 5]) == 5


def test_4():
    assert f([6, 2]) == 2


def test_5():
    assert f([2, 0, 1]) == 3


def test_6():
    assert f([4, 0]) == 4


def test_7():
    assert f([6, 2, 9, 0]) == 5
