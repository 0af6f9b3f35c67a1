from tiny.m102 import f


def test_0():
    assert f('cbeb') == ['b', 'b', 'c', 'e']


def test_1():
    assert f('ebb') == ['b', 'b', 'e']


def test_2():
    assert f('dec') == ['c', 'd', 'e']


def test_3():
    assert f('ebdc') == ['b', 'c', 'd', 'e']


def test_4():
    assert f('ee') == ['e', 'e']


def test_5():
    assert f('cb') == ['b', 'c']


def test_6():
    assert f('abc') == ['a', 'b', 'c']


def test_7():
    assert f('dc') == ['c', 'd']
