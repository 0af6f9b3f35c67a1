from tiny.m227 import f


def test_0():
    assert f(3) == [19, 4]


def test_1():
    assert f(2) == [14, 4]


def test_2():
    assert f(5) == [35, 4]


def test_3():
    assert f(8) == [74, 4]


def test_4():
    assert f(4) == [26, 4]


def test_5():
    assert f(6) == [46, 4]


def test_6():
    assert f(9) == [91, 4]


def test_7():
    assert f(12) == [154, 4]
