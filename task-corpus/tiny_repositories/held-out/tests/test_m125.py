from tiny.m125 import f


def test_0():
    assert f(10) == 200


def test_1():
    assert f(7) == 155


def test_2():
    assert f(5) == 125


def test_3():
    assert f(0) == 50


def test_4():
    assert f(9) == 185


def test_5():
    assert f(12) == 230


def test_6():
    assert f(1) == 65


def test_7():
    assert f(8) == 170
