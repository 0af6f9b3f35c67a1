from tiny.m172 import f


def test_0():
    assert f(8) == [5, 72]


def test_1():
    assert f(1) == [5, 9]


def test_2():
    assert f(9) == [5, 81]


def test_3():
    assert f(3) == [5, 27]


def test_4():
    assert f(12) == [5, 81]


def test_5():
    assert f(11) == [5, 81]


def test_6():
    assert f(5) == [5, 45]


def test_7():
    assert f(10) == [5, 81]
