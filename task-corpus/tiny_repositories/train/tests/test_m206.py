from tiny.m206 import f


def test_0():
    assert f([5, 7, 6, 2]) == [45, 63, 54, 18, 5]


def test_1():
    assert f([1, 9, 1, 4]) == [9, 81, 9, 36, 5]


def test_2():
    assert f([4, 1, 9]) == [36, 9, 81, 5]


def test_3():
    assert f([8, 9, 1]) == [72, 81, 9, 5]


def test_4():
    assert f([4, 9, 5]) == [36, 81, 45, 5]


def test_5():
    assert f([8, 4, 8]) == [72, 36, 72, 5]


def test_6():
    assert f([3, 2, 9, 3]) == [27, 18, 81, 27, 5]


def test_7():
    assert f([4, 8, 0, 4]) == [36, 72, 0, 36, 5]
