from tiny.m145 import f


def test_0():
    assert f([8, 8, 3]) == [8, 3]


def test_1():
    assert f([9, 7, 0]) == [7, 0]


def test_2():
    assert f([8, 0, 7]) == [0, 7]


def test_3():
    assert f([5, 8, 3, 4]) == [8, 3]


def test_4():
    assert f([8, 5]) == [5, 5]


def test_5():
    assert f([6, 4]) == [4, 4]


def test_6():
    assert f([9, 4, 8]) == [4, 8]


def test_7():
    assert f([8, 8, 7]) == [8, 7]
