from tiny.m105 import f


def test_0():
    assert f([1, 3, 3]) == 11


def test_1():
    assert f([8, 2, 0]) == 14


def test_2():
    assert f([7, 8]) == 19


def test_3():
    assert f([0, 0]) == 4


def test_4():
    assert f([7, 1, 0]) == 12


def test_5():
    assert f([4, 2, 6]) == 16


def test_6():
    assert f([3, 3]) == 10


def test_7():
    assert f([5, 1, 5]) == 15
