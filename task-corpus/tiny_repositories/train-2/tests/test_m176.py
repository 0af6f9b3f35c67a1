from tiny.m176 import f


def test_0():
    assert f('edcc') == ['c', 'e', 'd', 'c']


def test_1():
    assert f('db') == ['b', 'd']


def test_2():
    assert f('bed') == ['b', 'e', 'd']


def test_3():
    assert f('deba') == ['a', 'd', 'e', 'b']


def test_4():
    assert f('cbab') == ['b', 'c', 'b', 'a']


def test_5():
    assert f('eacb') == ['b', 'e', 'a', 'c']


def test_6():
    assert f('bb') == ['b', 'b']


def test_7():
    assert f('cea') == ['c', 'e', 'a']
