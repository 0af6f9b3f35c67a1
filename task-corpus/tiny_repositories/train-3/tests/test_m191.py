from tiny.m191 import f


def test_0():
    assert f([7, 7, 9, 0]) == 23


def test_1():
    assert f([4, 0]) == 4


def test_2():
    assert f([8, 1, 8, 1]) == 18


def test_3():
    assert f([0, 9, 0, 0]) == 9


def test_4():
    assert f([2, 7, 6]) == 15


def test_5():
    assert f([7, 8, 0]) == 15


def test_6():
    assert f([5, 5, 5, 0]) == 15


def test_7():
    assert f([7, 3]) == 10
