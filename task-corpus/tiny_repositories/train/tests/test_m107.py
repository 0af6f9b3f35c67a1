from tiny.m107 import f


def test_0():
    assert f('eacb') == ['A', 'B', 'C', 'E']


def test_1():
    assert f('aceb') == ['A', 'B', 'C', 'E']


def test_2():
    assert f('cb') == ['B', 'C']


def test_3():
    assert f('ceea') == ['A', 'C', 'E', 'E']


def test_4():
    assert f('bba') == ['A', 'B', 'B']


def test_5():
    assert f('abc') == ['A', 'B', 'C']


def test_6():
    assert f('dcc') == ['C', 'C', 'D']


def test_7():
    assert f('be') == ['B', 'E']
