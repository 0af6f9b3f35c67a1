from tiny.m061 import f


def test_0():
    assert f([0, 2, 2, 7]) == [0, 8, 8, 28]


def test_1():
    assert f([3, 0, 0]) == [12, 0, 0]


def test_2():
    assert f([9, 2, 7]) == [36, 8, 28]


def test_3():
    assert f([7, 5, 5, 4]) == [28, 20, 20, 16]


def test_4():
    assert f([1, 8]) == [8, 1]


def test_5():
    assert f([9, 7]) == [36, 28]


def test_6():
    assert f([2, 8]) == [8, 32]


def test_7():
    assert f([5, 4]) == [20, 16]
