from tiny.m189 import f


def test_0():
    assert f(6) == '6dy'


def test_1():
    assert f(12) == '12dy'


def test_2():
    assert f(10) == '10dy'


def test_3():
    assert f(4) == '4dy'


def test_4():
    assert f(9) == '9dy'


def test_5():
    assert f(7) == '7dy'


def test_6():
    assert f(5) == '5dy'


def test_7():
    assert f(8) == '8dy'
