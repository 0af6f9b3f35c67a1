from tiny.m195 import f


def test_0():
    assert f([5, 4, 9, 9]) == [2, 5, 4, 9, 9]


def test_1():
    assert f([8, 7, 0, 4]) == [2, 8, 7, 0, 4]


def test_2():
    assert f([0, 4]) == [2, 0, 4]


def test_3():
    assert f([4, 8]) == [2, 4, 8]


def test_4():
    assert f([8, 7, 8, 2]) == [2, 8, 7, 8, 2]


def test_5():
    assert f([6, 8, 6, 5]) == [2, 6, 8, 6, 5]


def test_6():
    assert f([6, 7, 8]) == [2, 6, 7, 8]


def test_7():
    assert f([5, 8, 3]) == [2, 5, 8, 3]
