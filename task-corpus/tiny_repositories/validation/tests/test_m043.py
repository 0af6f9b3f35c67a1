from tiny.m043 import f


def test_0():
    assert f('ddd') == 'vvvv'


def test_1():
    assert f('be') == 'bev'


def test_2():
    assert f('bebb') == 'bebbv'


def test_3():
    assert f('bb') == 'bbv'


def test_4():
    assert f('dacd') == 'vacvv'


def test_5():
    assert f('babe') == 'babev'


def test_6():
    assert f('beec') == 'beecv'


def test_7():
    assert f('bbae') == 'bbaev'
