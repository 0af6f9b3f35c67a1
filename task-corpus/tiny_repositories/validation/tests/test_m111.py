from tiny.m111 import f


def test_0():
    assert f([3, 8]) == [0, 8]


def test_1():
    assert f([5, 1, 7]) == [8, 4, 4]


def test_2():
    assert f([8, 0, 8]) == [8, 0, 8]


def test_3():
    assert f([1, 5, 7]) == [4, 8, 4]


def test_4():
    assert f([2, 7, 8]) == [8, 4, 8]


def test_5():
    assert f([3, 1, 8, 3]) == [0, 4, 8, 0]


def test_6():
    assert f([2, 4]) == [8, 4]


def test_7():
    assert f([9, 2]) == [0, 8]
