from tiny.m082 import f


def test_0():
    assert f('ea') == ['e', 'a']


def test_1():
    assert f('bd') == ['b', 'd']


def test_2():
    assert f('aadb') == ['a', 'a']


def test_3():
    assert f('ce') == ['c', 'e']


def test_4():
    assert f('abcc') == ['a', 'b']


def test_5():
    assert f('cecd') == ['c', 'e']


def test_6():
    assert f('ddc') == ['d', 'd']


def test_7():
    assert f('dabd') == ['d', 'a']
