from tiny.m032 import f


def test_0():
    assert f('aaeb') == ['e', 'b']


def test_1():
    assert f('add') == ['d', 'd']


def test_2():
    assert f('aee') == ['e', 'e']


def test_3():
    assert f('dc') == ['d', 'c']


def test_4():
    assert f('de') == ['d', 'e']


def test_5():
    assert f('dacb') == ['d', 'c', 'b']


def test_6():
    assert f('eea') == ['e', 'e']


def test_7():
    assert f('ee') == ['e', 'e']
