from tiny.m099 import f


def test_0():
    assert f([3, 4, 1]) == 9


def test_1():
    assert f([9, 2, 7, 3]) == 27


def test_2():
    assert f([0, 3]) == 0


def test_3():
    assert f([4, 5]) == 4


def test_4():
    assert f([8, 2]) == 8


def test_5():
    assert f([2, 1]) == 2


def test_6():
    assert f([4, 1, 2, 1]) == 4


def test_7():
    assert f([9, 0, 8, 3]) == 27
