from tiny.m137 import f


def test_0():
    assert f('eabb') == ['a', 'b', 'b']


def test_1():
    assert f('bded') == ['b', 'd', 'd']


def test_2():
    assert f('eacc') == ['a', 'c', 'c']


def test_3():
    assert f('dcad') == ['a', 'c', 'd']


def test_4():
    assert f('deea') == ['a', 'd', 'e']


def test_5():
    assert f('bed') == ['b', 'd']


def test_6():
    assert f('eee') == ['e', 'e']


def test_7():
    assert f('de') == ['d']
