from tiny.m197 import f


def test_0():
    assert f([6, 7]) == [6, 0]


def test_1():
    assert f([4, 6]) == [6, 4, 0]


def test_2():
    assert f([7, 8, 7, 4]) == [8, 7, 7, 0]


def test_3():
    assert f([0, 1]) == [1, 0, 0]


def test_4():
    assert f([8, 3, 6]) == [3, 8, 0]


def test_5():
    assert f([2, 3, 7]) == [3, 2, 0]


def test_6():
    assert f([0, 1, 6]) == [1, 6, 0, 0]


def test_7():
    assert f([1, 3, 7]) == [3, 1, 0]
