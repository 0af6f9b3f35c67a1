from tiny.m237 import f


def test_0():
    assert f([7, 3, 1]) == [5, 5, 5]


def test_1():
    assert f([3, 8, 6]) == [5, 5, 5]


def test_2():
    assert f([3, 3, 0, 3]) == [3, 3, 3]


def test_3():
    assert f([6, 6]) == [0, 0, 0]


def test_4():
    assert f([8, 8, 6, 5]) == [3, 3, 3]


def test_5():
    assert f([0, 4, 0]) == [4, 4, 4]


def test_6():
    assert f([0, 8, 8]) == [4, 4, 4]


def test_7():
    assert f([7, 2, 3, 9]) == [3, 3, 3]
