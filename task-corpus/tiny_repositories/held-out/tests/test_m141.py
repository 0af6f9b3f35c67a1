from tiny.m141 import f


def test_0():
    assert f([9, 8]) == 45


def test_1():
    assert f([8, 9, 0, 3]) == 0


def test_2():
    assert f([7, 1]) == 35


def test_3():
    assert f([7, 6]) == 35


def test_4():
    assert f([3, 9, 0, 5]) == 0


def test_5():
    assert f([6, 9]) == 48


def test_6():
    assert f([1, 6, 9, 2]) == 5


def test_7():
    assert f([4, 8]) == 32
