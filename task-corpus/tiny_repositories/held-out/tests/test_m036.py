from tiny.m036 import f


def test_0():
    assert f('ee') == ['e', 'b']


def test_1():
    assert f('eae') == ['ae', 'b']


def test_2():
    assert f('ad') == ['d', 'b']


def test_3():
    assert f('ea') == ['a', 'b']


def test_4():
    assert f('ca') == ['a', 'b']


def test_5():
    assert f('cd') == ['d', 'b']


def test_6():
    assert f('bed') == ['ed', 'b']


def test_7():
    assert f('de') == ['e', 'b']
