from tiny.m175 import f


def test_0():
    assert f(5) == [13, 13]


def test_1():
    assert f(8) == [16, 16]


def test_2():
    assert f(9) == [17, 17]


def test_3():
    assert f(10) == [18, 18]


def test_4():
    assert f(6) == [14, 14]


def test_5():
    assert f(0) == [8, 8]


def test_6():
    assert f(12) == [20, 20]


def test_7():
    assert f(4) == [12, 12]
