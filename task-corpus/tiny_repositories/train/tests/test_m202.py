from tiny.m202 import f


def test_0():
    assert f(9) == [54, 54]


def test_1():
    assert f(1) == [6, 54]


def test_2():
    assert f(0) == [0, 54]


def test_3():
    assert f(6) == [36, 54]


def test_4():
    assert f(3) == [18, 54]


def test_5():
    assert f(7) == [42, 54]


def test_6():
    assert f(8) == [48, 54]


def test_7():
    assert f(11) == [66, 54]
