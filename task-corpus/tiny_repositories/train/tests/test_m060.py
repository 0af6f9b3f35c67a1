from tiny.m060 import f


def test_0():
    assert f([3, 5, 6]) == 8


def test_1():
    assert f([9, 2]) == 0


def test_2():
    assert f([7, 4]) == 0


def test_3():
    assert f([7, 3, 2]) == 3


def test_4():
    assert f([7, 3, 8]) == 0


def test_5():
    assert f([1, 5, 0]) == 6


def test_6():
    assert f([1, 4, 8, 8]) == 1


def test_7():
    assert f([8, 5]) == 0
