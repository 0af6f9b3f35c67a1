from tiny.m153 import f


def test_0():
    assert f([3, 3]) == 210


def test_1():
    assert f([4, 5, 6, 4]) == 264


def test_2():
    assert f([5, 2, 9, 2]) == 318


def test_3():
    assert f([6, 0, 2, 6]) == 264


def test_4():
    assert f([9, 6, 6]) == 318


def test_5():
    assert f([4, 8, 5, 3]) == 300


def test_6():
    assert f([1, 5, 5, 1]) == 246


def test_7():
    assert f([1, 1]) == 174
