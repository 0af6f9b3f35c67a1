from tiny.m029 import f


def test_0():
    assert f('ee') == ['e', 'e']


def test_1():
    assert f('bbdb') == ['b', 'd', 'b', 'b']


def test_2():
    assert f('cb') == ['b', 'c']


def test_3():
    assert f('cc') == ['c', 'c']


def test_4():
    assert f('bed') == ['d', 'e', 'b']


def test_5():
    assert f('cdae') == ['e', 'a', 'd', 'c']


def test_6():
    assert f('eb') == ['b', 'e']


def test_7():
    assert f('ccdc') == ['c', 'd', 'c', 'c']
