from tiny.m171 import f


def test_0():
    assert f([8, 0]) == 72


def test_1():
    assert f([0, 3, 8, 6]) == 0


def test_2():
    assert f([5, 5, 6, 3]) == 45


def test_3():
    assert f([7, 5]) == 63


def test_4():
    assert f([4, 2]) == 36


def test_5():
    assert f([9, 5, 9, 3]) == 81


def test_6():
    assert f([9, 2, 9]) == 81


def test_7():
    assert f([3, 3, 0, 5]) == 27
