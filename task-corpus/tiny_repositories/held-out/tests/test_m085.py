from tiny.m085 import f


def test_0():
    assert f('dd') == 'dddd'


def test_1():
    assert f('ddc') == 'ddcddc'


def test_2():
    assert f('ece') == 'eceece'


def test_3():
    assert f('de') == 'dede'


def test_4():
    assert f('cbe') == 6


def test_5():
    assert f('eb') == 4


def test_6():
    assert f('aa') == 'aaaa'


def test_7():
    assert f('ba') == 4
