from tiny.m201 import f


def test_0():
    assert f([1, 2, 3]) == 19


def test_1():
    assert f([2, 1, 5, 8]) == 35


def test_2():
    assert f([6, 1]) == 99


def test_3():
    assert f([6, 1, 4, 9]) == 99


def test_4():
    assert f([9, 0, 0, 1]) == 147


def test_5():
    assert f([7, 8, 4]) == 115


def test_6():
    assert f([2, 4, 0, 4]) == 35


def test_7():
    assert f([1, 0, 0]) == 19
