from tiny.m158 import f


def test_0():
    assert f('cdce') == 'ecdcecdcecdc'


def test_1():
    assert f('ccaa') == ['a', 'a', 'c', 'c']


def test_2():
    assert f('bccc') == ['c', 'c', 'c', 'b']


def test_3():
    assert f('ecaa') == ['a', 'a', 'c', 'e']


def test_4():
    assert f('aab') == ['b', 'a', 'a']


def test_5():
    assert f('daec') == ['c', 'e', 'a', 'd']


def test_6():
    assert f('eda') == ['a', 'd', 'e']


def test_7():
    assert f('cb') == ['b', 'c']
