from tiny.m215 import f


def test_0():
    assert f([1, 0]) == [2, 2, 6]


def test_1():
    assert f([2, 4, 0]) == [2, 4, 2, 6]


def test_2():
    assert f([2, 0, 5, 1]) == [2, 2, 5, 2, 6]


def test_3():
    assert f([2, 7]) == [2, 7, 6]


def test_4():
    assert f([8, 9, 0, 9]) == [8, 9, 2, 9, 6]


def test_5():
    assert f([8, 2, 9, 3]) == [8, 2, 9, 3, 6]


def test_6():
    assert f([8, 3]) == [8, 3, 6]


def test_7():
    assert f([2, 4]) == [2, 4, 6]
