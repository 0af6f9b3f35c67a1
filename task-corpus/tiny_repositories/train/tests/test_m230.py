from tiny.m230 import f


def test_0():
    assert f([0, 2, 9, 5]) == [2, 9, 5, 0]


def test_1():
    assert f([4, 2, 8]) == 196


def test_2():
    assert f([2, 3, 7]) == 144


def test_3():
    assert f([4, 5]) == 81


def test_4():
    assert f([0, 5, 3, 8]) == [5, 3, 8, 0]


def test_5():
    assert f([2, 7, 4, 3]) == [7, 4, 3, 2]


def test_6():
    assert f([6, 7, 2]) == 225


def test_7():
    assert f([5, 9]) == 196
