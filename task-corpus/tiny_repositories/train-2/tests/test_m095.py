from tiny.m095 import f


def test_0():
    assert f([9, 9, 0, 7]) == [12, 12, 10]


def test_1():
    assert f([3, 1, 0]) == [6]


def test_2():
    assert f([3, 6, 9, 8]) == [6, 9, 12, 11]


def test_3():
    assert f([8, 9, 0]) == [11, 12]


def test_4():
    assert f([8, 9, 5, 7]) == [11, 12, 8, 10]


def test_5():
    assert f([1, 9]) == [12]


def test_6():
    assert f([8, 9, 8, 5]) == [11, 12, 11, 8]


def test_7():
    assert f([5, 3, 2, 0]) == [8, 6]
