from tiny.m060 import f


def test_0():
    assert f([8, 7, 2, 0]) == [8, 7, 2, 0]


def test_1():
    assert f([2, 5, 2]) == [2, 5, 2]


def test_2():
    assert f([5, 8, 9]) == [5, 8, 9]


def test_3():
    assert f([8, 5, 0]) == [8, 5, 0]


def test_4():
    assert f([7, 4, 1]) == [7, 4]


def test_5():
    assert f([0, 6]) == [0, 6]


def test_6():
    assert f([1, 6, 6, 7]) == [6, 6, 7]


def test_7():
    assert f([8, 2]) == [8, 2]
