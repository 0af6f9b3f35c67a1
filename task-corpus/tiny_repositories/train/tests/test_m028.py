from tiny.m028 import f


def test_0():
    assert f([4, 1]) == 7


def test_1():
    assert f([8, 6, 2, 6]) == 14


def test_2():
    assert f([0, 4, 4]) == 0


def test_3():
    assert f([6, 9, 6, 6]) == 28


def test_4():
    assert f([2, 3]) == 14


def test_5():
    assert f([8, 7, 0, 6]) == 0


def test_6():
    assert f([2, 6]) == 14


def test_7():
    assert f([4, 2, 7]) == 14
