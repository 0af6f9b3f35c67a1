from tiny.m146 import f


def test_0():
    assert f('aa') == ''


def test_1():
    assert f('ae') == ''


def test_2():
    assert f('eaed') == 'ee'


def test_3():
    assert f('be') == 'b'


def test_4():
    assert f('bccc') == 'bcc'


def test_5():
    assert f('dee') == 'de'


def test_6():
    assert f('adea') == 'd'


def test_7():
    assert f('caed') == 'ce'
