from tiny.m078 import f


def test_0():
    assert f([8, 9, 5]) == [8, 9, 5]


def test_1():
    assert f([0, 0, 6, 8]) == [3, 3, 6, 8]


def test_2():
    assert f([3, 6, 2]) == [3, 6, 3]


def test_3():
    assert f([1, 7, 2, 7]) == [3, 7, 3, 7]


def test_4():
    assert f([3, 3]) == [3, 3]


def test_5():
    assert f([6, 4, 0, 3]) == [6, 4, 3, 3]


def test_6():
    assert f([4, 7, 1, 9]) == [4, 7, 3, 9]


def test_7():
    assert f([1, 3, 2]) == [3, 3, 3]
