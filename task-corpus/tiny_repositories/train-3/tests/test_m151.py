from tiny.m151 import f


def test_0():
    assert f([3, 2, 2, 4]) == [12, 8]


def test_1():
    assert f([7, 5]) == [28, 20]


def test_2():
    assert f([8, 2, 9]) == [32, 8]


def test_3():
    assert f([3, 7, 8, 4]) == [12, 28]


def test_4():
    assert f([4, 8, 4, 2]) == [16, 32]


def test_5():
    assert f([8, 2, 3]) == [32, 8]


def test_6():
    assert f([4, 3]) == [16, 12]


def test_7():
    assert f([9, 6]) == [36, 24]
