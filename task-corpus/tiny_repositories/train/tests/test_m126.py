from tiny.m126 import f


def test_0():
    assert f('dce') == ['dce', 'y']


def test_1():
    assert f('cb') == 'cx'


def test_2():
    assert f('abe') == ['abe', 'y']


def test_3():
    assert f('ca') == 'cx'


def test_4():
    assert f('eacb') == ['eacb', 'y']


def test_5():
    assert f('becd') == ['becd', 'y']


def test_6():
    assert f('bed') == ['bed', 'y']


def test_7():
    assert f('ded') == ['ded', 'y']
