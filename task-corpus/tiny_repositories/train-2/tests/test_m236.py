from tiny.m236 import f


def test_0():
    assert f([4, 6, 1]) == [4, 6, 1]


def test_1():
    assert f([7, 5]) == [7, 5]


def test_2():
    assert f([4, 9, 3]) == [4, 9, 3]


def test_3():
    assert f([8, 8, 4]) == [8, 8, 4]


def test_4():
    assert f([4, 6]) == [4, 6]


def test_5():
    assert f([8, 2]) == [8]


def test_6():
    assert f([9, 1, 4]) == [9, 1, 4]


def test_7():
    assert f([7, 4, 7]) == [7, 4, 7]
