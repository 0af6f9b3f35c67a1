from tiny.m177 import f


def test_0():
    assert f('daae') == 'eaad'


def test_1():
    assert f('dcb') == 'dc'


def test_2():
    assert f('cc') == 'cc'


def test_3():
    assert f('ab') == 'a'


def test_4():
    assert f('aacb') == 'aac'


def test_5():
    assert f('debb') == 'deb'


def test_6():
    assert f('aa') == 'aa'


def test_7():
    assert f('cdeb') == 'cde'
