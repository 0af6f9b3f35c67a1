from tiny.m150 import f


def test_0():
    assert f('ad') == ['a', 'd']


def test_1():
    assert f('cbdd') == ['c', 'b', 'd', 'd']


def test_2():
    assert f('dbd') == ['d', 'b', 'd']


def test_3():
    assert f('eea') == ['e', 'e', 'a']


def test_4():
    assert f('ee') == ['e', 'e']


def test_5():
    assert f('bec') == ['b', 'e', 'c']


def test_6():
    assert f('cbba') == ['c', 'b', 'b', 'a']


def test_7():
    assert f('ecab') == ['e', 'c', 'a', 'b']
