from tiny.m186 import f


def test_0():
    assert f([3, 3]) == 15


def test_1():
    assert f([6, 2, 2, 7]) == 19


def test_2():
    assert f([0, 5]) == 17


def test_3():
    assert f([2, 6, 7, 7]) == 19


def test_4():
    assert f([4, 0, 3, 7]) == 19


def test_5():
    assert f([3, 2, 1]) == 15


def test_6():
    assert f([4, 4, 8]) == 20


def test_7():
    assert f([1, 8, 7]) == 20
