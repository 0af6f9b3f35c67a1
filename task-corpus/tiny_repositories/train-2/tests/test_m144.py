from tiny.m144 import f


def test_0():
    assert f([3, 4]) == [27, 36]


def test_1():
    assert f([6, 8]) == [54, 72]


def test_2():
    assert f([5, 9, 5]) == [45, 81, 45]


def test_3():
    assert f([3, 4, 3, 3]) == [27, 36, 27, 27]


def test_4():
    assert f([7, 2, 4, 0]) == [63, 18, 36, 0]


def test_5():
    assert f([5, 7, 1]) == [45, 63, 9]


def test_6():
    assert f([5, 2, 4]) == [45, 18, 36]


def test_7():
    assert f([0, 6]) == [0, 54]
