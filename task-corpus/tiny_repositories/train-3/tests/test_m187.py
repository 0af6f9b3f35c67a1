from tiny.m187 import f


def test_0():
    assert f([5, 3]) == [5]


def test_1():
    assert f([7, 9, 5, 0]) == [9, 5, 7]


def test_2():
    assert f([9, 8, 9, 4]) == [8, 9, 9]


def test_3():
    assert f([8, 0]) == [8]


def test_4():
    assert f([6, 8]) == [8, 6]


def test_5():
    assert f([1, 9, 5, 1]) == [5, 9]


def test_6():
    assert f([6, 9, 1]) == [9, 6]


def test_7():
    assert f([6, 1]) == [6]
