from tiny.m186 import f


def test_0():
    assert f([6, 3]) == [6, 6]


def test_1():
    assert f([2, 0]) == [6, 6]


def test_2():
    assert f([5, 4, 4, 7]) == [6, 6, 6, 7]


def test_3():
    assert f([2, 1, 7, 7]) == [6, 6, 7, 7]


def test_4():
    assert f([1, 6]) == [6, 6]


def test_5():
    assert f([5, 6, 8, 5]) == [6, 6, 8, 6]


def test_6():
    assert f([5, 8]) == [6, 8]


def test_7():
    assert f([6, 9, 6, 8]) == [6, 9, 6, 8]
