from tiny.m060 import f


def test_0():
    assert f('eacd') == 'xxeacd'


def test_1():
    assert f('beee') == 'xxbeee'


def test_2():
    assert f('dbb') == 'xdbb'


def test_3():
    assert f('ee') == 'xee'


def test_4():
    assert f('ca') == 'xca'


def test_5():
    assert f('dac') == 'xdac'


def test_6():
    assert f('dcee') == 'xxdcee'


def test_7():
    assert f('ad') == 'xad'
