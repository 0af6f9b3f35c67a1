from tiny.m231 import f


def test_0():
    assert f(3) == 'xccc'


def test_1():
    assert f(7) == 'xccc'


def test_2():
    assert f(11) == 'xccc'


def test_3():
    assert f(4) == 'x'


def test_4():
    assert f(5) == 'xc'


def test_5():
    assert f(0) == 'x'


def test_6():
    assert f(9) == 'xc'


def test_7():
    assert f(6) == 'xcc'
