from tiny.m111 import f


def test_0():
    assert f([2, 6, 6, 8]) == [6, 6, 2]


def test_1():
    assert f([1, 2, 3]) == [2, 1]


def test_2():
    assert f([7, 3, 3, 7]) == [7, 3, 3]


def test_3():
    assert f([6, 1]) == [6]


def test_4():
    assert f([4, 7, 4]) == [7, 4]


def test_5():
    assert f([4, 3, 8]) == [4, 3]


def test_6():
    assert f([1, 0, 7, 9]) == [7, 1, 0]


def test_7():
    assert f([6, 5, 0]) == [6, 5]
