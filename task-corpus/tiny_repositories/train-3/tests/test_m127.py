from tiny.m127 import f


def test_0():
    assert f([6, 6, 9, 3]) == [6, 6, 9]


def test_1():
    assert f([8, 4]) == [8]


def test_2():
    assert f([7, 0, 5]) == [7, 5]


def test_3():
    assert f([6, 9]) == [6, 9]


def test_4():
    assert f([1, 9, 5]) == [9, 5]


def test_5():
    assert f([4, 2, 8, 8]) == [8, 8]


def test_6():
    assert f([9, 4, 3]) == [9]


def test_7():
    assert f([6, 9, 0]) == [6, 9]
