from tiny.m170 import f


def test_0():
    assert f([8, 2]) == [3, 4]


def test_1():
    assert f([3, 8]) == [3, 4]


def test_2():
    assert f([0, 7]) == [2, 4]


def test_3():
    assert f([7, 0]) == [2, 4]


def test_4():
    assert f([0, 1, 3]) == [1, 4]


def test_5():
    assert f([9, 6, 8, 1]) == [8, 4]


def test_6():
    assert f([3, 8, 6]) == [5, 4]


def test_7():
    assert f([8, 8, 1]) == [5, 4]
