from tiny.m013 import f


def test_0():
    assert f([0, 9, 8, 1]) == [8, 17, 16, 9]


def test_1():
    assert f([2, 3, 7]) == [10, 11, 15]


def test_2():
    assert f([6, 6]) == [14, 14]


def test_3():
    assert f([6, 8, 9]) == [14, 16, 17]


def test_4():
    assert f([0, 0, 0, 7]) == [8, 8, 8, 15]


def test_5():
    assert f([8, 3, 1]) == [16, 11, 9]


def test_6():
    assert f([1, 4, 1, 0]) == [9, 12, 9, 8]


def test_7():
    assert f([0, 9, 2, 7]) == [8, 17, 10, 15]
