from tiny.m152 import f


def test_0():
    assert f([6, 3, 7, 1]) == [5, 35, 15, 30]


def test_1():
    assert f([2, 0, 6, 1]) == [5, 30, 0, 10]


def test_2():
    assert f([6, 3]) == [15, 30]


def test_3():
    assert f([5, 2, 7]) == [35, 10, 25]


def test_4():
    assert f([9, 1, 3]) == [15, 5, 45]


def test_5():
    assert f([8, 1, 7]) == [35, 5, 40]


def test_6():
    assert f([0, 7, 1, 5]) == [25, 5, 35, 0]


def test_7():
    assert f([5, 5, 6, 4]) == [20, 30, 25, 25]
