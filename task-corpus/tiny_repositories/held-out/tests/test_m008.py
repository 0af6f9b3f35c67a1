from tiny.m008 import f


def test_0():
    assert f('abba') == ['b', 'b', 'x', 'x']


def test_1():
    assert f('bc') == ['b', 'c']


def test_2():
    assert f('beba') == ['b', 'b', 'e', 'x']


def test_3():
    assert f('ba') == ['b', 'x']


def test_4():
    assert f('ece') == ['c', 'e', 'e']


def test_5():
    assert f('de') == ['d', 'e']


def test_6():
    assert f('caae') == ['c', 'e', 'x', 'x']


def test_7():
    assert f('eeca') == ['c', 'e', 'e', 'x']
