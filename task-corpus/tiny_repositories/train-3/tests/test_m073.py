from tiny.m073 import f


def test_0():
    assert f([0, 7, 4]) == 17


def test_1():
    assert f([2, 1, 8]) == 17


def test_2():
    assert f([9, 5, 7]) == 27


def test_3():
    assert f([1, 7, 8, 0]) == 22


def test_4():
    assert f([3, 6]) == 15


def test_5():
    assert f([3, 3, 9, 4]) == 25


def test_6():
    assert f([8, 6]) == 20


def test_7():
    assert f([5, 3, 7, 8]) == 29
