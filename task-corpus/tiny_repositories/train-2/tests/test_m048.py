from tiny.m048 import f


def test_0():
    assert f('cc') == 'ec'


def test_1():
    assert f('aabe') == 'eabe'


def test_2():
    assert f('eaa') == 'eaa'


def test_3():
    assert f('bc') == 'ec'


def test_4():
    assert f('dcde') == 'ecde'


def test_5():
    assert f('bcc') == 'ecc'


def test_6():
    assert f('cb') == 'eb'


def test_7():
    assert f('bacd') == 'eacd'
