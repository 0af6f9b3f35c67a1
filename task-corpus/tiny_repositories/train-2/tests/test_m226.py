from tiny.m226 import f


def test_0():
    assert f([9, 1, 7]) == [1]


def test_1():
    assert f([7, 3, 1, 0]) == [1, 3]


def test_2():
    assert f([4, 6, 4]) == []


def test_3():
    assert f([8, 9, 7]) == []


def test_4():
    assert f([0, 8]) == [0]


def test_5():
    assert f([2, 0]) == [0, 2]


def test_6():
    assert f([0, 5]) == [0]


def test_7():
    assert f([8, 9, 4, 3]) == [3]
