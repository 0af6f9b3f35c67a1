from tiny.m216 import f


def test_0():
    assert f([5, 0, 9]) == 20


def test_1():
    assert f([5, 8, 6]) == 20


def test_2():
    assert f([5, 6, 0]) == 20


def test_3():
    assert f([5, 9, 4]) == 20


def test_4():
    assert f([9, 6]) == 36


def test_5():
    assert f([9, 0]) == 36


def test_6():
    assert f([6, 0, 4]) == 24


def test_7():
    assert f([4, 0, 4]) == 16
