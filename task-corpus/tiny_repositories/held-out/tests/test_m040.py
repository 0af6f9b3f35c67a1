from tiny.m040 import f


def test_0():
    assert f('ccc') == ['c', 'c', 'c']


def test_1():
    assert f('ab') == ['b', 'a']


def test_2():
    assert f('acca') == ['a', 'c', 'c', 'a']


def test_3():
    assert f('cbea') == ['a', 'e', 'b', 'c']


def test_4():
    assert f('be') == ['e', 'b']


def test_5():
    assert f('bd') == ['d', 'b']


def test_6():
    assert f('cdeb') == ['b', 'e', 'd', 'c']


def test_7():
    assert f('bbc') == ['c', 'b', 'b']
