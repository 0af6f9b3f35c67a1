from tiny.m063 import f


def test_0():
    assert f('dcdc') == 5


def test_1():
    assert f('ebee') == 'beee'


def test_2():
    assert f('aab') == 4


def test_3():
    assert f('de') == 'ed'


def test_4():
    assert f('abc') == 4


def test_5():
    assert f('cdd') == 4


def test_6():
    assert f('da') == 3


def test_7():
    assert f('eba') == 'bae'
