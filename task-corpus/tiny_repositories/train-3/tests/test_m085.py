from tiny.m085 import f


def test_0():
    assert f([0, 9]) == [8, 0, 9]


def test_1():
    assert f([4, 9, 1]) == [8, 4, 9, 1]


def test_2():
    assert f([6, 7]) == [8, 6, 7]


def test_3():
    assert f([4, 9, 1, 3]) == [8, 4, 9, 1, 3]


def test_4():
    assert f([6, 1]) == [8, 6, 1]


def test_5():
    assert f([8, 0, 2, 3]) == [8, 8, 0, 2, 3]


def test_6():
    assert f([8, 4, 0]) == [8, 8, 4, 0]


def test_7():
    assert f([0, 9, 4]) == [8, 0, 9, 4]
