from tiny.m223 import f


def test_0():
    assert f([0, 6]) == [0]


def test_1():
    assert f([0, 4, 1]) == [0, 3]


def test_2():
    assert f([1, 2]) == [3]


def test_3():
    assert f([6, 0, 1, 6]) == [18, 3]


def test_4():
    assert f([0, 6, 4, 3]) == [0, 12]


def test_5():
    assert f([7, 5]) == [21]


def test_6():
    assert f([1, 9]) == [3]


def test_7():
    assert f([1, 7, 4, 8]) == [3, 12]
