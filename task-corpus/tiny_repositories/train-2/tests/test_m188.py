from tiny.m188 import f


def test_0():
    assert f([7, 8, 6, 1]) == [31, 25]


def test_1():
    assert f([5, 2, 0]) == [29, 24]


def test_2():
    assert f([8, 5, 2, 2]) == [32, 26]


def test_3():
    assert f([7, 6, 2]) == [31, 26]


def test_4():
    assert f([9, 8, 8, 0]) == [33, 24]


def test_5():
    assert f([8, 6, 5, 0]) == [32, 24]


def test_6():
    assert f([0, 2]) == [24, 26]


def test_7():
    assert f([4, 7]) == [28, 31]
