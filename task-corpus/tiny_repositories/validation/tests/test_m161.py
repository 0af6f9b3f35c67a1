from tiny.m161 import f


def test_0():
    assert f([8, 6, 1]) == 6


def test_1():
    assert f([4, 3]) == []


def test_2():
    assert f([6, 2]) == []


def test_3():
    assert f([6, 4, 6]) == [6]


def test_4():
    assert f([6, 0, 8]) == [8]


def test_5():
    assert f([2, 8, 6]) == [6]


def test_6():
    assert f([8, 7, 7, 2]) == 6


def test_7():
    assert f([0, 7]) == []
