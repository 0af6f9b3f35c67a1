from tiny.m093 import f


def test_0():
    assert f([0, 7, 9]) == 45


def test_1():
    assert f([6, 8]) == 40


def test_2():
    assert f([5, 8, 2]) == 10


def test_3():
    assert f([6, 4]) == 20


def test_4():
    assert f([5, 9, 0]) == 0


def test_5():
    assert f([7, 9, 3]) == 15


def test_6():
    assert f([3, 8]) == 40


def test_7():
    assert f([3, 4, 9]) == 45
