from tiny.m104 import f


def test_0():
    assert f([6, 9]) == [18, 27]


def test_1():
    assert f([3, 6, 9, 9]) == [9, 27, 27, 18]


def test_2():
    assert f([6, 3]) == [18, 9]


def test_3():
    assert f([9, 5, 7, 0]) == [27, 0, 21, 15]


def test_4():
    assert f([7, 9, 1]) == [21, 3, 27]


def test_5():
    assert f([6, 8, 0]) == [18, 0, 24]


def test_6():
    assert f([6, 5]) == [18, 15]


def test_7():
    assert f([6, 2, 7, 2]) == [18, 6, 21, 6]
