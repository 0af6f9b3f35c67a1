from tiny.m211 import f


def test_0():
    assert f([4, 7, 7]) == [8, 11]


def test_1():
    assert f([8, 4, 3]) == [12, 8]


def test_2():
    assert f([6, 5, 5, 9]) == [10, 9]


def test_3():
    assert f([6, 8, 0, 6]) == [10, 12]


def test_4():
    assert f([2, 1, 7, 8]) == [6, 5]


def test_5():
    assert f([2, 7, 4, 9]) == [6, 11]


def test_6():
    assert f([8, 1]) == [12, 5]


def test_7():
    assert f([6, 8, 8]) == [10, 12]
