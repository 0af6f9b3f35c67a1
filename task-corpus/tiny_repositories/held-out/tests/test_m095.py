from tiny.m095 import f


def test_0():
    assert f([0, 7, 8]) == 0


def test_1():
    assert f([8, 4]) == 40


def test_2():
    assert f([0, 3]) == 0


def test_3():
    assert f([8, 1, 7]) == 40


def test_4():
    assert f([9, 4, 7, 7]) == 45


def test_5():
    assert f([0, 1]) == 0


def test_6():
    assert f([3, 6]) == 15


def test_7():
    assert f([8, 5, 4]) == 40
