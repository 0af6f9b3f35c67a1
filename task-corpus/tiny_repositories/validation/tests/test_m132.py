from tiny.m132 import f


def test_0():
    assert f('bbea') == 'xbbeax'


def test_1():
    assert f('dca') == 'xdcax'


def test_2():
    assert f('eee') == 'xeeex'


def test_3():
    assert f('ad') == 'xadx'


def test_4():
    assert f('ee') == 'xeex'


def test_5():
    assert f('dded') == 'xddedx'


def test_6():
    assert f('bb') == 'xbbx'


def test_7():
    assert f('dd') == 'xddx'
