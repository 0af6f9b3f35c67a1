from tiny.m181 import f


def test_0():
    assert f(6) == '10'


def test_1():
    assert f(1) == '5'


def test_2():
    assert f(11) == '15'


def test_3():
    assert f(9) == '13'


def test_4():
    assert f(4) == '8'


def test_5():
    assert f(3) == '7'


def test_6():
    assert f(0) == '4'


def test_7():
    assert f(12) == '16'
