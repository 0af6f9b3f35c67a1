from tiny.m136 import f


def test_0():
    assert f([3, 9, 0, 7]) == 29


def test_1():
    assert f([2, 2, 0, 1]) == 23


def test_2():
    assert f([5, 9]) == 41


def test_3():
    assert f([7, 5, 2, 5]) == 53


def test_4():
    assert f([5, 4, 1, 9]) == 41


def test_5():
    assert f([9, 5, 1]) == 65


def test_6():
    assert f([7, 8, 1, 4]) == 53


def test_7():
    assert f([8, 9, 4]) == 59
