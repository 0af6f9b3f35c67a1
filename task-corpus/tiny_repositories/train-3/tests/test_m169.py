from tiny.m169 import f


def test_0():
    assert f(12) == -1


def test_1():
    assert f(6) == [1, 0]


def test_2():
    assert f(0) == [0, 0]


def test_3():
    assert f(5) == [1, 0]


def test_4():
    assert f(11) == 0


def test_5():
    assert f(4) == [1, 0]


def test_6():
    assert f(7) == 4


def test_7():
    assert f(2) == [0, 0]
