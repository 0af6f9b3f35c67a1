from tiny.m167 import f


def test_0():
    assert f('ad') == 'ad'


def test_1():
    assert f('bc') == ['b', 'c']


def test_2():
    assert f('bac') == 'ba'


def test_3():
    assert f('ccc') == ['c', 'c', 'c']


def test_4():
    assert f('bce') == ['b', 'c', 'e']


def test_5():
    assert f('bada') == 'ba'


def test_6():
    assert f('dac') == 'da'


def test_7():
    assert f('ebea') == 'eb'
