from tiny.m011 import f


def test_0():
    assert f([0, 8]) == [0, 6, 3]


def test_1():
    assert f([0, 4]) == [0, 3, 3]


def test_2():
    assert f([4, 8]) == [3, 6, 3]


def test_3():
    assert f([2, 3, 3]) == [6, 0, 0, 3]


def test_4():
    assert f([6, 9, 2, 2]) == [0, 0, 6, 6, 3]


def test_5():
    assert f([0, 2, 9, 0]) == [0, 6, 0, 0, 3]


def test_6():
    assert f([9, 3, 5, 4]) == [0, 0, 6, 3, 3]


def test_7():
    assert f([9, 0, 3]) == [0, 0, 0, 3]
