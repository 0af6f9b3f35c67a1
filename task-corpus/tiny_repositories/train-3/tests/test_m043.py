from tiny.m043 import f


def test_0():
    assert f([6, 3]) == [30, 24, 26]


def test_1():
    assert f([0, 9, 1]) == [18, 36, 20, 26]


def test_2():
    assert f([5, 7]) == [28, 32, 26]


def test_3():
    assert f([1, 0, 3]) == [20, 18, 24, 26]


def test_4():
    assert f([8, 7, 9, 9]) == [34, 32, 36, 36, 26]


def test_5():
    assert f([5, 0]) == [28, 18, 26]


def test_6():
    assert f([3, 8, 2, 7]) == [24, 34, 22, 32, 26]


def test_7():
    assert f([7, 9]) == [32, 36, 26]
