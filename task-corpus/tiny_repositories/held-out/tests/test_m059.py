from tiny.m059 import f


def test_0():
    assert f([3, 3]) == []


def test_1():
    assert f([3, 3, 9]) == 24


def test_2():
    assert f([6, 5, 0, 9]) == 48


def test_3():
    assert f([3, 3, 1, 9]) == 24


def test_4():
    assert f([3, 2, 0]) == [4]


def test_5():
    assert f([0, 6, 6]) == 0


def test_6():
    assert f([4, 8]) == 32


def test_7():
    assert f([8, 3]) == 64
