from tiny.m171 import f


def test_0():
    assert f([7, 3, 4, 1]) == [28, 12, 16, 4]


def test_1():
    assert f([7, 2, 1, 6]) == [28, 8, 4, 24]


def test_2():
    assert f([4, 8, 1, 3]) == [16, 32, 4, 12]


def test_3():
    assert f([0, 3]) == [0]


def test_4():
    assert f([7, 2, 5]) == [28, 8, 20]


def test_5():
    assert f([9, 7, 7, 9]) == [36, 28, 28, 36]


def test_6():
    assert f([9, 0, 2]) == [0, 9]


def test_7():
    assert f([7, 7, 0, 2]) == [28, 28, 0, 8]
