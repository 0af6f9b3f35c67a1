from tiny.m149 import f


def test_0():
    assert f('aee') == ['e', 'e']


def test_1():
    assert f('edc') == ['c', 'd']


def test_2():
    assert f('cdca') == ['a', 'c', 'd']


def test_3():
    assert f('ed') == ['d', 'e']


def test_4():
    assert f('cb') == ['b', 'c']


def test_5():
    assert f('ae') == ['a', 'e']


def test_6():
    assert f('dbae') == ['a', 'b', 'e']


def test_7():
    assert f('eecd') == ['c', 'd', 'e']
