from tiny.m159 import f


def test_0():
    assert f([6, 2]) == [6, 2]


def test_1():
    assert f([6, 4, 6]) == [6, 6]


def test_2():
    assert f([6, 0, 8]) == [6, 8]


def test_3():
    assert f([2, 8, 6]) == [7, 11, 13]


def test_4():
    assert f([8, 7, 7, 2]) == [8, 2]


def test_5():
    assert f([0, 7]) == [5, 12]


def test_6():
    assert f([7, 2, 0, 7]) == [7, 7]


def test_7():
    assert f([5, 9, 3, 8]) == [5, 8]
