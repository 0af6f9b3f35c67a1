from tiny.m144 import f


def test_0():
    assert f(9) == [6, 21]


def test_1():
    assert f(5) == [6, 17]


def test_2():
    assert f(10) == [6, 22]


def test_3():
    assert f(7) == [6, 19]


def test_4():
    assert f(6) == [6, 18]


def test_5():
    assert f(3) == [6, 15]


def test_6():
    assert f(0) == [6, 12]


def test_7():
    assert f(1) == [6, 13]
