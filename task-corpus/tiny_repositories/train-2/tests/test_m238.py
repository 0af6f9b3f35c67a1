from tiny.m238 import f


def test_0():
    assert f([4, 1, 8, 7]) == [7, 8, 1]


def test_1():
    assert f([8, 7, 7, 2]) == [2, 7, 7]


def test_2():
    assert f([5, 0]) == [0]


def test_3():
    assert f([5, 3]) == [3]


def test_4():
    assert f([1, 7]) == [7]


def test_5():
    assert f([4, 0, 8, 6]) == [6, 8, 0]


def test_6():
    assert f([0, 1, 3]) == [3, 1]


def test_7():
    assert f([5, 4]) == [4]
