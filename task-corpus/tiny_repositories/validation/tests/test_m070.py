from tiny.m070 import f


def test_0():
    assert f('eacd') == 'yecdyz'


def test_1():
    assert f('beee') == 'ybeeeyz'


def test_2():
    assert f('dbb') == 'ydbbyz'


def test_3():
    assert f('ee') == 'yeeyz'


def test_4():
    assert f('ca') == 'ycyz'


def test_5():
    assert f('dac') == 'ydcyz'


def test_6():
    assert f('dcee') == 'ydceeyz'


def test_7():
    assert f('ad') == 'ydyz'
