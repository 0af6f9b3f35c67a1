from tiny.m069 import f


def test_0():
    assert f([7, 8, 1]) == 1


def test_1():
    assert f([2, 9, 9, 9]) == 10


def test_2():
    assert f([7, 0, 7]) == 7


def test_3():
    assert f([3, 3]) == 11


def test_4():
    assert f([3, 3, 9]) == 11


def test_5():
    assert f([6, 5, 0, 9]) == 9


def test_6():
    assert f([3, 3, 1, 9]) == 11


def test_7():
    assert f([3, 2, 0]) == 11
