from tiny.m115 import f


def test_0():
    assert f([2, 1, 4, 8]) == 17


def test_1():
    assert f([9, 8, 3, 8]) == 23


def test_2():
    assert f([4, 9, 9]) == 22


def test_3():
    assert f([6, 5]) == 9


def test_4():
    assert f([0, 0, 8, 2]) == 14


def test_5():
    assert f([7, 5]) == 9


def test_6():
    assert f([6, 4, 1]) == 9


def test_7():
    assert f([3, 4, 1]) == 9
