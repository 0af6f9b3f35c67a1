from tiny.m074 import f


def test_0():
    assert f('eee') == ['ee', 'c']


def test_1():
    assert f('ab') == ['a', 'c']


def test_2():
    assert f('cb') == ['c', 'c']


def test_3():
    assert f('ee') == ['e', 'c']


def test_4():
    assert f('cc') == ['c', 'c']


def test_5():
    assert f('ebca') == ['ebc', 'c']


def test_6():
    assert f('ebac') == ['eba', 'c']


def test_7():
    assert f('abad') == ['aba', 'c']
