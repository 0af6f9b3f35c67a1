from tiny.m078 import f


def test_0():
    assert f([0, 8, 6]) == 350


def test_1():
    assert f([6, 2, 3, 0]) == 150


def test_2():
    assert f([9, 2, 2]) == 225


def test_3():
    assert f([5, 0, 7, 6]) == 325


def test_4():
    assert f([9, 2, 1]) == 225


def test_5():
    assert f([2, 3]) == 0


def test_6():
    assert f([6, 3]) == 150


def test_7():
    assert f([1, 6, 2, 1]) == 150
