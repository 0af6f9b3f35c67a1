from tiny.m218 import f


def test_0():
    assert f('aa') == 'aaz'


def test_1():
    assert f('eb') == 'ebz'


def test_2():
    assert f('cb') == 'bz'


def test_3():
    assert f('aae') == 'aaez'


def test_4():
    assert f('debb') == 'debbz'


def test_5():
    assert f('ca') == 'az'


def test_6():
    assert f('aaa') == 'aaaz'


def test_7():
    assert f('cbda') == 'bdaz'
