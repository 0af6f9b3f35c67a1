from tiny.m020 import f


def test_0():
    assert f([2, 5, 9]) == [2, 5, 0]


def test_1():
    assert f([8, 0, 2, 7]) == [8, 0, 2, 0]


def test_2():
    assert f([6, 2]) == [6, 0]


def test_3():
    assert f([6, 9, 0, 3]) == [6, 9, 0, 0]


def test_4():
    assert f([6, 9]) == [6, 0]


def test_5():
    assert f([0, 7, 8, 6]) == [0, 7, 8, 0]


def test_6():
    assert f([0, 7, 0]) == [0, 7, 0]


def test_7():
    assert f([0, 4, 3, 8]) == [0, 4, 3, 0]
