from tiny.m054 import f


def test_0():
    assert f([4, 6, 3, 1]) == [1, 1]


def test_1():
    assert f([7, 9, 7]) == []


def test_2():
    assert f([5, 6, 4, 8]) == [8, 8]


def test_3():
    assert f([9, 6, 8, 0]) == [0, 0]


def test_4():
    assert f([7, 0, 0, 4]) == [4, 4]


def test_5():
    assert f([0, 1]) == []


def test_6():
    assert f([6, 8, 9, 1]) == [1, 1]


def test_7():
    assert f([3, 4]) == []
